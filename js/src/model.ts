/** What Python writes and the page reads. The page never writes a trait. */

export type Status = "queued" | "building" | "stopping" | "built" | "stopped" | "failed";

/** One place in the tree; all runs of a phase under the same parent fold into it. */
export interface Row {
  id: number;
  parent: number | null;
  depth: number;
  name: string;
  /** Steps done of the current run, or of the last one. */
  done: number;
  total: number;
  /** Finished runs. */
  runs: number;
  running: boolean;
  /** Seconds in all runs, the current one included. */
  seconds: number;
  /** Seconds in the current run alone. */
  run_seconds: number;
}

export interface Result {
  engine: string | null;
  bytes: number | null;
  seconds: number;
  /** A stop was asked for, but the build finished first. */
  too_late: boolean;
}

export type State = {
  status: Status;
  title: string;
  model: string;
  rows: Row[];
  elapsed: number;
  remaining: [low: number, high: number] | null;
  fraction: number | null;
  estimate: string;
  idle_for: number;
  idle_in: string;
  idle_usual: number | null;
  message: string;
  hint: string;
  warnings: string[];
  result: Result | null;
  queue_place: number | null;
  end_in: number | null;
  can_end_now: boolean;
  updated_at: number;
};

// Typed so that a trait forgotten here does not compile.
const KEYS: Record<keyof State, true> = {
  status: true,
  title: true,
  model: true,
  rows: true,
  elapsed: true,
  remaining: true,
  fraction: true,
  estimate: true,
  idle_for: true,
  idle_in: true,
  idle_usual: true,
  message: true,
  hint: true,
  warnings: true,
  result: true,
  queue_place: true,
  end_in: true,
  can_end_now: true,
  updated_at: true,
};

export const TRAITS = Object.keys(KEYS) as (keyof State)[];

/** Page to kernel. */
export type Command = { command: "hello" } | { command: "stop"; now?: true };

/** Kernel to page: the command of that name was handled. */
export type Reply = { reply: "hello" | "stop" };

/** Whether a build in this status still moves. */
export function isLive(status: Status): boolean {
  return status === "queued" || status === "building" || status === "stopping";
}
