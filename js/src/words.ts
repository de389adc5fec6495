/** The sentences of the widget, from its state. `age` is how many seconds old that state is. */

import { basename, countdown, duration, remaining, size, timeOfDay, whole } from "./format.ts";
import type { State, Status } from "./model.ts";

/** Shorter silences are ordinary and would only flicker. */
const QUIET = 3;

export const STATUS_WORDS: Record<Status, string> = {
  queued: "Queued",
  building: "Building",
  stopping: "Stopping",
  built: "Built",
  stopped: "Stopped",
  failed: "Failed",
};

export const BUSY =
  "The kernel is busy and has not taken the stop yet: " +
  "the Interrupt button (■) in the notebook’s toolbar stops the build.";

/** "no step for 12 s, still in …", or nothing while steps come. */
export function quiet(state: State, age: number): string {
  const idle = state.idle_for + age;
  if (idle < QUIET) return "";
  const place = state.idle_in ? `, still in ${state.idle_in}` : "";
  const text = `no step for ${whole(idle)}${place}`;
  const usual = state.idle_usual;
  if (usual === null) return text;
  return idle <= usual
    ? `${text} (quiet up to ${countdown(usual)} is usual here)`
    : `${text}, unusual: at most ${countdown(usual)} before`;
}

/** What a build that still moves has to say beside its bars. */
export function progress(state: State, age: number): string {
  if (state.status === "queued") {
    if (state.queue_place === null) return "waiting for its turn";
    return state.queue_place <= 1
      ? "next in the queue"
      : `number ${state.queue_place} in the queue`;
  }
  if (state.status === "building") return quiet(state, age) || state.estimate;
  const silence = quiet(state, age);
  if (state.end_in === null) return silence || "waiting for the step to end";
  const left = state.end_in - age;
  const end =
    left > 0 ? `the child process is ended in ${countdown(left)}` : "ending the child process";
  return silence ? `${silence}; ${end}` : end;
}

/** How long it may still take, or nothing where there is no ground to say. */
export function left(state: State, age: number): string {
  if (state.status !== "building" || state.remaining === null) return "";
  const [low, high] = state.remaining;
  return remaining(low - age, high - age);
}

/** How it ended, in one line. */
export function outcome(state: State): string {
  const seconds = duration(state.result?.seconds ?? state.elapsed);
  if (state.status === "failed") return `Failed after ${seconds}`;
  if (state.status === "stopped") {
    return `Stopped after ${seconds}${state.message ? `: ${state.message}` : ""}`;
  }
  const { engine = null, bytes = null, too_late = false } = state.result ?? {};
  const parts = [`Built in ${seconds}`];
  if (engine !== null) parts.push(basename(engine));
  if (bytes !== null) parts.push(size(bytes));
  if (too_late) parts.push("stop was asked too late: the engine is complete");
  return parts.join(" · ");
}

/** What a view says that no kernel stands behind. */
export function noKernel(state: State): string {
  return state.updated_at > 0
    ? `No kernel: last updated ${timeOfDay(state.updated_at)}`
    : "No kernel: never updated";
}
