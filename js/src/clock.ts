/**
 * The time between updates: how old the state is, and whether a kernel stands behind it.
 *
 * One timer at most, and none once the build has ended or the kernel is gone.
 */

/** A live kernel writes at least every 2 s; this much silence means that there is none. */
const LOST_AFTER = 5000;
const TICK = 1000;

export class Clock {
  #tick: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #received = performance.now();
  #heard = performance.now();
  #known = false;
  #lost = false;

  /** `tick` is called when the texts on the page may have become old. */
  constructor(tick: () => void) {
    this.#tick = tick;
  }

  /** No kernel: nothing may move any more. */
  get lost(): boolean {
    return this.#lost;
  }

  /**
   * Seconds since the state was received. It stands still without a sign of life, so that a
   * build out of a saved notebook never seems to run.
   */
  get age(): number {
    return this.#known && !this.#lost ? (performance.now() - this.#received) / 1000 : 0;
  }

  /** A new state came. */
  received(): void {
    this.#received = performance.now();
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
  run(elapsed: number, deadline: number | null): void {
    this.stop();
    if (this.#lost) return;
    const now = performance.now();
    let wake = this.#heard + LOST_AFTER;
    if (this.#known) wake = Math.min(wake, now + TICK - (((elapsed + this.age) * 1000) % TICK));
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
