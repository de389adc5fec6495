import { describe, expect, it } from "vitest";
import {
  basename,
  clock,
  countdown,
  duration,
  percent,
  remaining,
  size,
  timeOfDay,
} from "./format.ts";

describe("times", () => {
  it.each([
    [0, "0.0 s"],
    [-1, "0.0 s"],
    [0.7 + 0.1, "0.8 s"],
    [9.99, "9.9 s"],
    [10, "10 s"],
    [59.9, "59 s"],
    [83, "1 min 23 s"],
    [3600 + 65, "1 h 01 min"],
  ])("clock(%f) is %s: never ahead of the time", (seconds, text) => {
    expect(clock(seconds)).toBe(text);
  });

  it.each([
    [0, "0 ms"],
    [0.0312, "31 ms"],
    [0.9996, "1.0 s"],
    [12.34, "12.3 s"],
    [59.96, "1 min 00 s"],
    [3599.7, "1 h 00 min"],
  ])("duration(%f) is %s", (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it.each([
    [7, "7 s"],
    [6.2, "7 s"],
    [0.1, "1 s"],
    [-1, "0 s"],
  ])("countdown(%f) is %s: 0 only when it is over", (seconds, text) => {
    expect(countdown(seconds)).toBe(text);
  });

  it.each([
    [20, 30, "about 20–30 s left"],
    [20.1, 20.4, "about 20 s left"],
    [-3, 8, "up to 8 s left"],
    [-9, 0.4, "a moment left"],
    [61, 98, "about 61–98 s left"],
    [70, 130, "about 1–2 min left"],
    [10, 200, "up to 3 min left"],
    [5400, 9000, "about 2–3 h left"],
  ])("remaining(%f, %f) is %s", (low, high, text) => {
    expect(remaining(low, high)).toBe(text);
  });

  it("says the date of a time that was not today", () => {
    const then = new Date(2026, 2, 5, 14, 3, 22);
    expect(timeOfDay(then.getTime() / 1000, new Date(2026, 2, 5, 20))).toBe("14:03:22");
    expect(timeOfDay(then.getTime() / 1000, new Date(2026, 2, 6, 1))).toBe(
      "14:03:22 on 2026-03-05",
    );
  });
});

describe("amounts", () => {
  it.each([
    [0, "0 bytes"],
    [999, "999 bytes"],
    [1000, "1.0 kB"],
    [999_960, "1.0 MB"],
    [102_534_348, "102.5 MB"],
    [2_345_000_000, "2.3 GB"],
  ])("size(%i) is %s", (bytes, text) => {
    expect(size(bytes)).toBe(text);
  });

  it.each([
    [0, "0 %"],
    [0.004, "< 1 %"],
    [0.29, "29 %"],
    [0.999, "99 %"],
    [1, "100 %"],
  ])("percent(%f) is %s: all only when it is all", (share, text) => {
    expect(percent(share)).toBe(text);
  });

  it("takes the last part of a path", () => {
    expect(basename("/a/b/resnet50.plan")).toBe("resnet50.plan");
    expect(basename("C:\\engines\\a.plan")).toBe("a.plan");
    expect(basename("a.plan")).toBe("a.plan");
  });
});
