/** The nested bars, one element a row for as long as the row lives. */

import { Bar, make, makeIcon, setAttributes, setHidden, setText } from "./dom.ts";
import { clock, duration, percent } from "./format.ts";
import type { Row } from "./model.ts";

const CHEVRON = "M6 4l4 4-4 4";

/** What all rows are drawn against. */
export interface Frame {
  live: boolean;
  /** Seconds since the rows were received. */
  age: number;
  /** Seconds of the whole build, for the shares of the time after its end. */
  elapsed: number;
}

class RowView {
  readonly element: HTMLElement;
  readonly children: HTMLElement;
  #line: HTMLElement;
  #fold: HTMLButtonElement;
  #name = make("span", { class: "label" });
  #bar = new Bar("");
  #steps = make("span", { class: "steps" });
  #runs = make("span", { class: "runs" });
  #time = make("span", { class: "time" });

  constructor(id: number, depth: number, signal: AbortSignal) {
    this.children = make("ul", { id: `under-${id}`, role: "list", hidden: "" });
    this.#fold = make(
      "button",
      { class: "fold", type: "button", "aria-expanded": "true", "aria-controls": this.children.id },
      makeIcon("chevron", CHEVRON),
    );
    this.#fold.hidden = true;
    this.#fold.addEventListener("click", () => this.#toggle(), { signal });
    this.#line = make(
      "div",
      { class: "line", style: `--depth: ${depth}` },
      make("span", { class: "name" }, this.#fold, this.#name),
      this.#bar.element,
      this.#steps,
      this.#runs,
      this.#time,
    );
    this.element = make("li", { class: "row" }, this.#line, this.children);
  }

  update(row: Row, isParent: boolean, heaviest: boolean, frame: Frame): void {
    const running = row.running && frame.live;
    const finished = !running && row.runs > 0;
    const state = !frame.live ? "past" : running ? "running" : finished ? "finished" : "waiting";
    setAttributes(this.element, { "data-state": state, "data-heaviest": heaviest ? "" : null });
    setText(this.#name, row.name);
    setAttributes(this.#fold, { "aria-label": row.name });
    setHidden(this.#fold, !isParent);
    setHidden(this.children, !isParent || this.#folded);

    const seconds = row.seconds + (running ? frame.age : 0);
    setText(this.#runs, row.runs + Number(running) > 1 ? `×${row.runs + Number(running)}` : "");
    setText(this.#time, running ? clock(seconds) : duration(seconds));
    this.#bar.measures(frame.live ? "progressbar" : "meter", row.name);
    if (frame.live) this.#progress(row, running, finished, frame);
    else this.#share(row, heaviest, frame);
  }

  #progress(row: Row, running: boolean, finished: boolean, frame: Frame): void {
    const known = row.total > 0;
    // A phase may end before its last step: ended is complete, whatever its steps say.
    const done = finished ? row.total : row.done;
    const steps = known ? `${row.done}/${row.total}` : "";
    setText(this.#steps, finished ? "✓" : steps);
    const inWords = finished ? "finished" : known ? `step ${row.done} of ${row.total}` : "running";
    const text = row.runs > 0 && running ? `${inWords}, run ${row.runs + 1}` : inWords;
    const share = known ? done / row.total : finished ? 1 : null;
    this.#bar.update(share, text, known ? [done, row.total] : [1, 1]);
    const thisRun =
      running && row.runs > 0 ? `, this run ${clock(row.run_seconds + frame.age)}` : "";
    setAttributes(this.#line, { title: `${row.name}: ${text}${thisRun}` });
  }

  #share(row: Row, heaviest: boolean, frame: Frame): void {
    const share = frame.elapsed > 0 ? Math.min(1, row.seconds / frame.elapsed) : 0;
    const text = `${percent(share)} of the time${heaviest ? ", most of it in this row itself" : ""}`;
    setText(this.#steps, percent(share));
    this.#bar.update(share, text, [Math.round(share * 100), 100]);
    setAttributes(this.#line, { title: `${row.name}: ${text}` });
  }

  get #folded(): boolean {
    return this.#fold.getAttribute("aria-expanded") === "false";
  }

  #toggle(): void {
    const folded = !this.#folded;
    setAttributes(this.#fold, { "aria-expanded": String(!folded) });
    setHidden(this.children, folded);
  }
}

export class Tree {
  readonly element = make("ul", { class: "rows", role: "list", "aria-label": "Phases" });
  #views = new Map<number, RowView>();
  #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  update(rows: Row[], frame: Frame): void {
    const parents = new Set(rows.map((row) => row.parent));
    const heaviest = frame.live ? null : heaviestRow(rows);
    /** Where in each list the next row belongs. */
    const next = new Map<HTMLElement, Element | null>();
    const seen = new Set<number>();
    for (const row of rows) {
      seen.add(row.id);
      let view = this.#views.get(row.id);
      if (view === undefined) {
        view = new RowView(row.id, row.depth, this.#signal);
        this.#views.set(row.id, view);
      }
      const above = row.parent === null ? undefined : this.#views.get(row.parent);
      const list = above?.children ?? this.element;
      const place = next.has(list) ? (next.get(list) ?? null) : list.firstElementChild;
      if (view.element !== place) list.insertBefore(view.element, place);
      next.set(list, view.element.nextElementSibling);
      view.update(row, parents.has(row.id), row.id === heaviest, frame);
    }
    for (const [id, view] of this.#views) {
      if (seen.has(id)) continue;
      view.element.remove();
      this.#views.delete(id);
    }
  }
}

/** The row that took the most time itself, apart from what lies under it. */
function heaviestRow(rows: Row[]): number | null {
  if (rows.length < 2) return null;
  const own = new Map(rows.map((row) => [row.id, row.seconds]));
  for (const row of rows) {
    if (row.parent !== null) own.set(row.parent, (own.get(row.parent) ?? 0) - row.seconds);
  }
  let heaviest: number | null = null;
  let most = 0;
  for (const [id, seconds] of own) {
    if (seconds > most) [heaviest, most] = [id, seconds];
  }
  return heaviest;
}
