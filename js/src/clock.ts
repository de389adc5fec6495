/**
 * The time between updates: how old the state is, and whether a kernel stands behind it.
 *
 * One timer at most, and none once the build has ended or the kernel is gone.
 */

/** A live kernel writes at least every 2 s; this much silence means that there is none. */
const LOST_AFTER = 5000;
const TICK = 1000;
/** Messages are this late at most; a larger step is a clock that jumped. */
const LATE = 1000;

export class Clock {
  #tick: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #elapsed: number;
  /** When the build started, on this page's clock. */
  #start: number;
  #heard = performance.now();
  #known = false;
  #lost = false;

  /** `tick` is called when the texts on the page may have become old. */
  constructor(elapsed: number, tick: () => void) {
    this.#tick = tick;
    this.#elapsed = elapsed;
    this.#start = this.#heard - elapsed * 1000;
  }

  /** A kernel was heard of and has not gone: things may move. */
  get alive(): boolean {
    return this.#known && !this.#lost;
  }

  /** No kernel: nothing may move any more. */
  get lost(): boolean {
    return this.#lost;
  }

  /**
   * How many seconds old the state is. It stands still without a sign of life, so that a build
   * out of a saved notebook never seems to run.
   */
  get age(): number {
    if (!this.alive) return 0;
    return Math.max(0, (performance.now() - this.#start) / 1000 - this.#elapsed);
  }

  /**
   * A new state came. The message that was least late tells best when the build started, and
   * one that comes later than others does not set the clocks back.
   */
  received(elapsed: number, again: boolean): void {
    const start = performance.now() - elapsed * 1000;
    if (again || start < this.#start || start > this.#start + LATE) this.#start = start;
    this.#elapsed = elapsed;
    this.heard();
  }

  /** Some sign of life came. */
  heard(): void {
    this.#heard = performance.now();
    this.#known = true;
    this.#lost = false;
  }

  /** There is surely no kernel. */
  lose(): void {
    this.#lost = true;
  }

  /** Set the timer for the next tick: the next full second of `elapsed`, or a deadline before. */
  run(deadline: number | null): void {
    this.stop();
    if (this.#lost) return;
    const now = performance.now();
    let wake = this.#heard + LOST_AFTER;
    if (this.#known) wake = Math.min(wake, now + TICK - ((now - this.#start) % TICK));
    if (deadline !== null && deadline > now) wake = Math.min(wake, deadline);
    this.#timer = setTimeout(
      () => {
        if (performance.now() >= this.#heard + LOST_AFTER) this.#lost = true;
        this.#tick();
      },
      Math.max(10, Math.ceil(wake - now)),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
