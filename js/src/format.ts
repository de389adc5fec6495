/** Numbers as people read them. */

/** A running clock: tenths under 10 s, then whole seconds, never ahead of the time. */
export function clock(seconds: number): string {
  const s = Math.max(0, seconds);
  // The small term undoes float noise: 0.7 + 0.1 must not show as 0.7.
  return s < 10 ? `${(Math.floor(s * 10 + 1e-6) / 10).toFixed(1)} s` : whole(s);
}

/** A time that no longer changes: milliseconds, tenths of a second, minutes, hours. */
export function duration(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 0.9995) return `${Math.round(s * 1000)} ms`;
  return s < 59.95 ? `${s.toFixed(1)} s` : long(Math.round(s));
}

/** Whole seconds that have passed. */
export function whole(seconds: number): string {
  return long(Math.floor(Math.max(0, seconds) + 1e-6));
}

/** A time that counts down: whole seconds, 0 only when it is over. */
export function countdown(seconds: number): string {
  return long(Math.ceil(Math.max(0, seconds) - 1e-6));
}

function long(s: number): string {
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${pad(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${pad(Math.floor(s / 60) % 60)} min`;
}

function pad(n: number): string {
  return String(n).padStart(2, "0");
}

/** How long it may still take, as a range: never more precise than it is. */
export function remaining(low: number, high: number): string {
  if (high < 1) return "a moment left";
  const [unit, size] = high < 99.5 ? ["s", 1] : high < 5970 ? ["min", 60] : ["h", 3600];
  const from = Math.round(Math.max(0, low) / size);
  const to = Math.round(high / size);
  if (from === to) return `about ${to} ${unit} left`;
  return from === 0 ? `up to ${to} ${unit} left` : `about ${from}–${to} ${unit} left`;
}

/** File size in decimal units, as file managers and TensorRT's users count them. */
export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${bytes} bytes` : `${value.toFixed(1)} ${units[unit]}`;
}

/** A share of the whole. Only all of it is 100 %, only none of it is 0 %. */
export function percent(share: number): string {
  if (share <= 0) return "0 %";
  if (share < 0.01) return "< 1 %";
  return `${share >= 1 ? 100 : Math.floor(share * 100 + 1e-6)} %`;
}

/** Local time of day, with the date if it was not today. */
export function timeOfDay(unixSeconds: number, now: Date = new Date()): string {
  const t = new Date(unixSeconds * 1000);
  const time = [t.getHours(), t.getMinutes(), t.getSeconds()].map(pad).join(":");
  if (t.toDateString() === now.toDateString()) return time;
  return `${time} on ${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())}`;
}

/** The last part of a path, Windows' too. */
export function basename(path: string): string {
  return path.split(/[\\/]/).pop() || path;
}
