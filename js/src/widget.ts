/** The glue between anywidget and the view. */

import type { AnyModel, RenderProps } from "@anywidget/types";
import { type Reply, type State, TRAITS } from "./model.ts";
import { BuildView } from "./view.ts";

function read(model: AnyModel<State>): State {
  return Object.fromEntries(TRAITS.map((name) => [name, model.get(name)])) as State;
}

function render({ model, el, signal }: RenderProps<State>): void {
  const view = new BuildView(read(model), (command) => model.send(command), signal);

  // One message changes many traits, and hosts report them one by one: draw once after them all.
  let drawing = false;
  const changed = () => {
    if (drawing) return;
    drawing = true;
    queueMicrotask(() => {
      drawing = false;
      view.update(read(model));
    });
  };
  const replied = (message: Partial<Reply>) => {
    if (message.reply !== undefined) view.answered(message.reply);
  };

  for (const name of TRAITS) model.on(`change:${name}`, changed);
  model.on("msg:custom", replied);
  signal.addEventListener("abort", () => {
    for (const name of TRAITS) model.off(`change:${name}`, changed);
    model.off("msg:custom", replied);
  });
  el.append(view.element);
}

export default { render };
