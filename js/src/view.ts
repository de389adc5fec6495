/** One view of one build: the DOM, in a shadow root. */

import { Clock } from "./clock.ts";
import { Bar, make, makeIcon, setAttributes, setHidden, setIcon, setLine, setText } from "./dom.ts";
import { clock, percent } from "./format.ts";
import { type Command, isLive, type Reply, type State, type Status } from "./model.ts";
import styles from "./styles.css";
import { Tree } from "./tree.ts";
import { BUSY, left, noKernel, outcome, progress, STATUS_WORDS } from "./words.ts";

const ICONS: Record<Status, string> = {
  queued: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 5v3l2 1.5",
  building: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5",
  stopping: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5M6.5 6.5h3v3h-3z",
  built: "M3 8.5l3.5 3.5l6.5-7.5",
  stopped: "M4 4h8v8h-8z",
  failed: "M4 4l8 8M12 4l-8 8",
};

/** How long the kernel may take to answer a stop before the page says that it is busy. */
const BUSY_AFTER = 1000;
/** Phases are read out at most this often. */
const SPEAK_EVERY = 5000;
/** Deeper phases change too often to be read out. */
const SPEAK_DEPTH = 1;

interface Asked {
  now: boolean;
  status: Status;
  /** When the page may say that the kernel is busy; null once it has answered. */
  deadline: number | null;
}

export class BuildView {
  readonly element = make("div", { class: "trtwidget" });
  #send: (command: Command) => void;
  #signal: AbortSignal;
  #state: State;
  #clock: Clock;
  #asked: Asked | null = null;
  #spoken = { text: "", at: Number.NEGATIVE_INFINITY };

  #card = make("section", { class: "card" });
  #icon = makeIcon("icon", "");
  #status = make("span", { class: "status" });
  #title = make("span", { class: "title" });
  #stop = make("button", { class: "stop", type: "button" });
  #model = make("span", { class: "model" });
  #times = make("span", { class: "times" });
  #bar = new Bar("Whole build");
  #line = make("span", { class: "words" });
  #percent = make("span", { class: "percent" });
  #message = make("p", { class: "message" });
  #hint = make("p", { class: "hint" });
  #warnings = make("ul", { class: "warnings", role: "list", "aria-label": "Warnings" });
  #heading = make("h4", { class: "heading" }, "Where the time went");
  #tree: Tree;
  #live = make("div", { class: "live", role: "status", "aria-live": "polite" });

  /** `send` is how commands reach the kernel; `signal` ends the view. */
  constructor(state: State, send: (command: Command) => void, signal: AbortSignal) {
    this.#state = state;
    this.#send = send;
    this.#signal = signal;
    this.#clock = new Clock(state.elapsed, () => this.#draw());
    this.#tree = new Tree(signal);
    this.#mount();
    this.#draw();
    this.#command({ command: "hello" });
  }

  /** Draw what Python wrote. */
  update(state: State): void {
    if (this.#asked !== null && (this.#clock.lost || state.status !== this.#asked.status)) {
      this.#asked = null;
    }
    // What elapsed counts from may change with the status.
    this.#clock.received(state.elapsed, state.status !== this.#state.status);
    this.#state = state;
    this.#draw();
  }

  /** The kernel has handled a command. */
  answered(reply: Reply["reply"]): void {
    this.#clock.heard();
    if (reply === "stop" && this.#asked !== null) this.#asked.deadline = null;
    this.#draw();
  }

  #mount(): void {
    const { element: host } = this;
    this.#card.append(
      make("div", { class: "head" }, this.#icon, this.#status, this.#title, this.#stop),
      make("div", { class: "under" }, this.#model, this.#times),
      this.#bar.element,
      make("div", { class: "under" }, this.#line, this.#percent),
      this.#message,
      this.#hint,
      this.#warnings,
      this.#heading,
      this.#tree.element,
    );
    const root = host.attachShadow({ mode: "open" });
    root.append(make("style", {}, styles), this.#card, this.#live);

    const signal = this.#signal;
    this.#stop.addEventListener("click", () => this.#askToStop(), { signal });
    // Enter and Space belong to the buttons here; a notebook would run or scroll its cells.
    this.#card.addEventListener(
      "keydown",
      (event) => {
        if (event.key === "Enter" || event.key === " ") event.stopPropagation();
      },
      { signal },
    );
    // A laptop that slept may have missed the end.
    document.addEventListener(
      "visibilitychange",
      () => {
        if (!document.hidden && this.#clock.lost) this.#command({ command: "hello" });
      },
      { signal },
    );
    signal.addEventListener("abort", () => {
      this.#clock.stop();
      host.remove();
    });
  }

  #askToStop(): void {
    if (this.#stop.getAttribute("aria-disabled") === "true") return;
    const { status, can_end_now } = this.#state;
    const now = status === "stopping" && can_end_now;
    this.#asked = { now, status, deadline: performance.now() + BUSY_AFTER };
    this.#draw();
    this.#command(now ? { command: "stop", now: true } : { command: "stop" });
  }

  #command(command: Command): void {
    try {
      this.#send(command);
    } catch {
      // The connection is closed, so there is no kernel; the view says just that.
      this.#clock.lose();
      this.#draw();
    }
  }

  #draw(): void {
    if (this.#signal.aborted) return;
    const state = this.#state;
    const live = isLive(state.status);
    const lost = live && this.#clock.lost;
    const age = live ? this.#clock.age : 0;
    const elapsed = state.result?.seconds ?? state.elapsed;
    const busy = this.#busy;

    setAttributes(this.#card, {
      "data-status": state.status,
      "data-lost": lost ? "" : null,
      "data-moving": live && this.#clock.alive ? "" : null,
      "aria-label": `TensorRT build ${state.title}`,
    });
    setIcon(this.#icon, ICONS[state.status]);
    setText(this.#status, STATUS_WORDS[state.status]);
    setText(this.#title, state.title);
    setAttributes(this.#title, { title: state.title });
    setText(this.#model, state.model);
    setAttributes(this.#model, { title: state.model });
    const started = state.status !== "queued" && live;
    const times = started ? [clock(state.elapsed + age), left(state, age)] : [];
    setText(this.#times, times.filter(Boolean).join(" · "));
    this.#drawStop(live && !lost);
    this.#drawBar(live);

    const words = live ? progress(state, age) : outcome(state);
    setText(this.#line, lost ? noKernel(state) : busy ? BUSY : words);
    setAttributes(this.#line, {
      "data-notice": lost || busy ? "" : null,
      title: state.result?.engine ?? null,
    });
    this.#drawTexts();
    setHidden(this.#heading, live || state.rows.length === 0);
    this.#tree.update(state.rows, { live, age, elapsed });

    this.#speak(live, lost ? noKernel(state) : busy ? BUSY : "");
    if (live) this.#clock.run(this.#asked?.deadline ?? null);
    else this.#clock.stop();
  }

  get #busy(): boolean {
    const deadline = this.#asked?.deadline ?? null;
    return deadline !== null && performance.now() >= deadline;
  }

  #drawStop(shown: boolean): void {
    const { status, can_end_now } = this.#state;
    const endNow = status === "stopping" && can_end_now;
    const waits = this.#asked !== null || (status === "stopping" && !endNow);
    const label = this.#asked?.now ? "Ending…" : waits ? "Stopping…" : endNow ? "Stop now" : "Stop";
    setHidden(this.#stop, !shown);
    setText(this.#stop, label);
    // Not `disabled`: that would throw the keyboard's focus out of the widget.
    setAttributes(this.#stop, { "aria-disabled": waits ? "true" : null });
  }

  #drawBar(live: boolean): void {
    const { fraction, status } = this.#state;
    const share = status === "built" ? 1 : live && status !== "queued" ? fraction : (fraction ?? 0);
    const text = share === null ? "no estimate yet" : percent(share);
    this.#bar.update(share, text, [Math.floor((share ?? 0) * 100), 100]);
    setText(this.#percent, live && share !== null && status !== "queued" ? text : "");
  }

  #drawTexts(): void {
    const { status, message, hint, warnings } = this.#state;
    // A stopped build has its message in the outcome already.
    setLine(this.#message, status === "stopped" ? "" : message);
    setLine(this.#hint, hint);
    setHidden(this.#warnings, warnings.length === 0);
    for (const [i, text] of warnings.entries()) {
      const item = this.#warnings.children[i] ?? this.#warnings.appendChild(make("li"));
      setText(item, text);
    }
    while (this.#warnings.children.length > warnings.length) this.#warnings.lastChild?.remove();
  }

  /** Tell a screen reader of notices, of the end, and now and then of the phase. */
  #speak(live: boolean, notice: string): void {
    const { status, message, rows } = this.#state;
    const now = performance.now();
    let text = notice;
    if (text === "" && !live)
      text = status === "failed" ? `${outcome(this.#state)}. ${message}` : outcome(this.#state);
    if (text === "" && status === "building") {
      if (now - this.#spoken.at < SPEAK_EVERY) return;
      text = rows.findLast((row) => row.running && row.depth <= SPEAK_DEPTH)?.name ?? "";
    }
    if (text === "" || text === this.#spoken.text) return;
    this.#spoken = { text, at: now };
    setText(this.#live, text);
  }
}
