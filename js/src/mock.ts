/** A model in place of the host's, and states to fill it with, for the tests. */

import type { RenderProps } from "@anywidget/types";
import type { Row, State } from "./model.ts";
import widget from "./widget.ts";

type Listener = (...args: unknown[]) => void;

/** What a host offers: traits, events and messages, nothing more. */
export class MockModel {
  readonly sent: unknown[] = [];
  #state: State;
  #listeners = new Map<string, Set<Listener>>();

  constructor(state: State) {
    this.#state = state;
  }

  get<K extends keyof State>(name: K): State[K] {
    return this.#state[name];
  }

  on(event: string, listener: Listener): void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
  }

  off(event: string, listener: Listener): void {
    this.#listeners.get(event)?.delete(listener);
  }

  send(message: unknown): void {
    this.sent.push(message);
  }

  get listening(): number {
    return [...this.#listeners.values()].reduce((sum, set) => sum + set.size, 0);
  }

  /** As one message from Python: all traits are set, then each change is reported. */
  async write(changes: Partial<State>): Promise<void> {
    const now = Date.now() / 1000;
    const all: Partial<State> = { updated_at: now, ...changes };
    this.#state = { ...this.#state, ...all };
    for (const name of Object.keys(all)) this.#emit(`change:${name}`);
    await Promise.resolve();
  }

  reply(reply: "hello" | "stop"): void {
    this.#emit("msg:custom", { reply }, []);
  }

  #emit(event: string, ...args: unknown[]): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(...args);
  }
}

export function makeState(changes: Partial<State> = {}): State {
  return {
    status: "building",
    title: "resnet50-1",
    model: "resnet50.onnx · TensorRT-RTX 1.7.1",
    rows: makeRows(),
    elapsed: 4,
    remaining: [20, 30],
    fraction: 0.42,
    estimate: "from 3 builds before",
    idle_for: 0,
    idle_in: "Determining refit engines",
    idle_usual: null,
    message: "",
    hint: "",
    warnings: [],
    result: null,
    queue_place: null,
    end_in: null,
    can_end_now: false,
    updated_at: Date.now() / 1000,
    ...changes,
  };
}

export function makeRow(changes: Partial<Row>): Row {
  return {
    id: 0,
    parent: null,
    depth: 0,
    name: "Building engine",
    done: 0,
    total: 6,
    runs: 0,
    running: true,
    seconds: 4,
    run_seconds: 4,
    ...changes,
  };
}

/** A build in the middle: one phase done (short of its total), two open, one inside. */
export function makeRows(): Row[] {
  const finished = { running: false, runs: 1, seconds: 0.24 };
  return [
    makeRow({ id: 0, done: 3 }),
    makeRow({
      id: 1,
      parent: 0,
      depth: 1,
      name: "Optimizing graph",
      done: 29,
      total: 33,
      ...finished,
    }),
    makeRow({ id: 2, parent: 0, depth: 1, name: "Timing tactics", done: 1, total: 3, seconds: 3 }),
    makeRow({
      id: 3,
      parent: 2,
      depth: 2,
      name: "Determining refit engines",
      total: 8,
      runs: 2,
      seconds: 2.5,
      run_seconds: 0.5,
    }),
  ];
}

export interface Page {
  model: MockModel;
  root: ShadowRoot;
  text(selector: string): string;
  find<E extends Element = HTMLElement>(selector: string): E;
  /** The line of the row with this name. */
  line(name: string): HTMLElement;
  close(): void;
}

/** Render a view of a model, as a host does. */
export function open(model: MockModel): Page {
  const controller = new AbortController();
  const el = document.createElement("div");
  document.body.append(el);
  const props = { model, el, signal: controller.signal };
  widget.render(props as unknown as RenderProps<State>);
  const root = el.firstElementChild?.shadowRoot;
  if (!root) throw new Error("nothing was rendered");
  const find = <E extends Element>(selector: string): E => {
    const found = root.querySelector<E>(selector);
    if (found === null) throw new Error(`no ${selector}`);
    return found;
  };
  return {
    model,
    root,
    find,
    text: (selector) => find(selector).textContent ?? "",
    line(name) {
      const label = [...root.querySelectorAll(".label")].find((e) => e.textContent === name);
      const line = label?.closest<HTMLElement>(".line");
      if (!line) throw new Error(`no row ${name}`);
      return line;
    },
    close: () => controller.abort(),
  };
}
