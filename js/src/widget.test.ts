import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MockModel, makeRow, makeRows, makeState, open, type Page } from "./mock.ts";
import type { State } from "./model.ts";

const pages: Page[] = [];

function show(changes: Partial<State> = {}): Page {
  const page = open(new MockModel(makeState(changes)));
  pages.push(page);
  return page;
}

/** A page whose kernel has answered. */
function showAlive(changes: Partial<State> = {}): Page {
  const page = show(changes);
  page.model.reply("hello");
  return page;
}

/** Time passes with the heartbeats of a live kernel. */
async function pass(page: Page, seconds: number, elapsed: number): Promise<void> {
  for (let s = 1; s <= seconds; s += 1) {
    vi.advanceTimersByTime(1000);
    await page.model.write({ elapsed: elapsed + s });
  }
}

const moving = (page: Page) => page.find(".card").hasAttribute("data-moving");

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 2, 5, 14, 3, 22) });
});

afterEach(() => {
  for (const page of pages.splice(0)) page.close();
  vi.useRealTimers();
  document.body.replaceChildren();
});

describe("what each status shows", () => {
  it("building: times, estimate, share and Stop", () => {
    const page = showAlive();
    expect(page.text(".status")).toBe("Building");
    expect(page.text(".title")).toBe("resnet50-1");
    expect(page.text(".model")).toBe("resnet50.onnx · TensorRT-RTX 1.7.1");
    expect(page.text(".times")).toBe("4.0 s · about 20–30 s left");
    expect(page.text(".words")).toBe("from 3 builds before");
    expect(page.text(".percent")).toBe("42 %");
    expect(page.text(".stop")).toBe("Stop");
    expect(page.find(".stop").hidden).toBe(false);
    expect(page.find(".heading").hidden).toBe(true);
    expect(moving(page)).toBe(true);
  });

  it("building without ground for an estimate: an indeterminate bar and elapsed time", () => {
    const page = showAlive({ fraction: null, remaining: null, estimate: "" });
    const bar = page.find(".card > .bar");
    expect(bar.hasAttribute("aria-valuenow")).toBe(false);
    expect(bar.getAttribute("aria-valuetext")).toBe("no estimate yet");
    expect(bar.hasAttribute("data-unknown")).toBe(true);
    expect(page.text(".times")).toBe("4.0 s");
    expect(page.text(".percent")).toBe("");
  });

  it("queued: the place in the queue, what it waits for, and Stop", () => {
    const message = "Waiting for resnet50-0: builds in one process run one at a time.";
    const page = showAlive({ status: "queued", queue_place: 1, rows: [], fraction: null, message });
    expect(page.text(".status")).toBe("Queued");
    expect(page.text(".words")).toBe("next in the queue");
    expect(page.text(".message")).toBe(message);
    expect(page.text(".times")).toBe("");
    expect(page.find(".stop").hidden).toBe(false);
    expect(page.find(".card > .bar").hasAttribute("data-unknown")).toBe(false);
  });

  it("queued further back", async () => {
    const page = showAlive({ status: "queued", queue_place: 3 });
    expect(page.text(".words")).toBe("number 3 in the queue");
    await page.model.write({ queue_place: null });
    expect(page.text(".words")).toBe("waiting for its turn");
  });

  it("stopping in a thread: nothing more to press", () => {
    const page = showAlive({ status: "stopping", message: "TensorRT stops between steps only." });
    expect(page.text(".stop")).toBe("Stopping…");
    expect(page.find(".stop").getAttribute("aria-disabled")).toBe("true");
    expect(page.text(".words")).toBe("waiting for the step to end");
    expect(page.text(".message")).toBe("TensorRT stops between steps only.");
  });

  it("stopping a child process: counts down and offers Stop now", () => {
    const page = showAlive({ status: "stopping", end_in: 7, can_end_now: true });
    expect(page.text(".stop")).toBe("Stop now");
    expect(page.text(".words")).toBe("the child process is ended in 7 s");
    vi.advanceTimersByTime(2000);
    expect(page.text(".words")).toBe("the child process is ended in 5 s");
    page.find(".stop").click();
    expect(page.text(".stop")).toBe("Ending…");
    expect(page.model.sent.at(-1)).toEqual({ command: "stop", now: true });
  });

  it("keeps saying how quiet it is while stopping", () => {
    const page = showAlive({ status: "stopping", end_in: 0, idle_for: 12 });
    expect(page.text(".words")).toBe(
      "no step for 12 s, still in Determining refit engines; ending the child process",
    );
  });

  const result = {
    engine: "/e/resnet50.plan",
    bytes: 102_534_348,
    seconds: 12.34,
    too_late: false,
  };

  it("built: what came out, and where the time went", () => {
    const page = show({ status: "built", fraction: 1, result });
    expect(page.text(".status")).toBe("Built");
    expect(page.text(".words")).toBe("Built in 12.3 s · resnet50.plan · 102.5 MB");
    expect(page.find(".words").title).toBe("/e/resnet50.plan");
    expect(page.find(".stop").hidden).toBe(true);
    expect(page.find(".card > .bar").getAttribute("aria-valuenow")).toBe("100");
    expect(page.text(".heading")).toBe("Where the time went");
    expect(page.find(".heading").hidden).toBe(false);
    expect(moving(page)).toBe(false);
  });

  it("built although a stop was asked for", () => {
    const page = show({ status: "built", result: { ...result, engine: null, too_late: true } });
    expect(page.text(".words")).toBe(
      "Built in 12.3 s · 102.5 MB · stop was asked too late: the engine is complete",
    );
  });

  it("stopped: when and why", () => {
    const over = { engine: null, bytes: null, seconds: 3.4, too_late: false };
    const page = show({ status: "stopped", message: "Stop button", result: over });
    expect(page.text(".words")).toBe("Stopped after 3.4 s: Stop button");
    expect(page.find(".message").hidden).toBe(true);
    expect(page.find(".card > .bar").getAttribute("aria-valuenow")).toBe("42");
  });

  it("failed: the error and the next step", () => {
    const message = `Error Code 4: API Usage Error (${"long ".repeat(200)})`;
    const page = show({
      status: "failed",
      message,
      hint: "Give --optShapes.",
      fraction: null,
      elapsed: 1.2,
    });
    expect(page.text(".words")).toBe("Failed after 1.2 s");
    expect(page.text(".message")).toBe(message);
    expect(page.text(".hint")).toBe("Give --optShapes.");
    expect(page.find(".card > .bar").getAttribute("aria-valuenow")).toBe("0");
  });

  it("shows texts as text", () => {
    const page = show({ status: "failed", message: "<img src=x onerror=alert(1)>" });
    expect(page.find(".message").children.length).toBe(0);
  });

  it("lists warnings, as many as there are", async () => {
    const page = showAlive({ warnings: ["one", "two"] });
    const texts = () => [...page.find(".warnings").children].map((item) => item.textContent);
    expect(texts()).toEqual(["one", "two"]);
    await page.model.write({ warnings: ["three"] });
    expect(texts()).toEqual(["three"]);
    await page.model.write({ warnings: [] });
    expect(page.find(".warnings").hidden).toBe(true);
  });
});

describe("rows", () => {
  const bar = (page: Page, name: string) => page.line(name).querySelector(".bar") as HTMLElement;
  const cell = (page: Page, name: string, part: string) =>
    page.line(name).querySelector(`.${part}`)?.textContent;

  it("nest as the phases do", () => {
    const page = showAlive();
    const inner = page.line("Determining refit engines").closest("ul");
    expect(inner?.closest("li")?.querySelector(".label")?.textContent).toBe("Timing tactics");
  });

  it("show steps, runs and time", () => {
    const page = showAlive();
    expect(cell(page, "Building engine", "steps")).toBe("3/6");
    expect(cell(page, "Building engine", "runs")).toBe("");
    expect(cell(page, "Determining refit engines", "steps")).toBe("0/8");
    expect(cell(page, "Determining refit engines", "runs")).toBe("×3");
    expect(cell(page, "Optimizing graph", "time")).toBe("240 ms");
  });

  it("that finished short look complete", () => {
    const page = showAlive();
    const finished = bar(page, "Optimizing graph");
    expect(finished.getAttribute("aria-valuenow")).toBe("33");
    expect(finished.getAttribute("aria-valuemax")).toBe("33");
    expect(finished.getAttribute("aria-valuetext")).toBe("finished");
    expect((finished.firstElementChild as HTMLElement).style.width).toBe("100%");
    expect(cell(page, "Optimizing graph", "steps")).toBe("✓");
  });

  it("that run have bars as long as their steps, empty before the first", () => {
    const page = showAlive();
    const running = bar(page, "Building engine");
    expect(running.getAttribute("role")).toBe("progressbar");
    expect(running.getAttribute("aria-label")).toBe("Building engine");
    expect(running.getAttribute("aria-valuemin")).toBe("0");
    expect(running.getAttribute("aria-valuemax")).toBe("6");
    expect(running.getAttribute("aria-valuenow")).toBe("3");
    expect(running.getAttribute("aria-valuetext")).toBe("step 3 of 6");
    expect((running.firstElementChild as HTMLElement).style.width).toBe("50%");
    const empty = bar(page, "Determining refit engines");
    expect((empty.firstElementChild as HTMLElement).style.width).toBe("0%");
    expect(empty.getAttribute("aria-valuetext")).toBe("step 0 of 8, run 3");
  });

  it("without a number of steps are indeterminate until they finish", async () => {
    const page = showAlive({ rows: [makeRow({ total: 0 })] });
    expect(bar(page, "Building engine").hasAttribute("aria-valuenow")).toBe(false);
    await page.model.write({ rows: [makeRow({ total: 0, running: false, runs: 1 })] });
    expect(bar(page, "Building engine").getAttribute("aria-valuenow")).toBe("1");
  });

  it("show after the end how the time was shared, the heaviest marked", () => {
    const rows = makeRows().map((row) => ({ ...row, running: false, runs: 1 }));
    const page = show({ status: "built", elapsed: 4, rows });
    const heaviest = bar(page, "Determining refit engines");
    expect(heaviest.getAttribute("role")).toBe("meter");
    expect(heaviest.getAttribute("aria-valuenow")).toBe("63");
    expect(heaviest.getAttribute("aria-valuetext")).toBe(
      "62 % of the time, most of it in this row itself",
    );
    expect(cell(page, "Determining refit engines", "steps")).toBe("62 %");
    const marked = [...page.root.querySelectorAll("[data-heaviest] > .line .label")];
    expect(marked.map((label) => label.textContent)).toEqual(["Determining refit engines"]);
  });

  it("that were open when the build ended are shown as past, and stand still", () => {
    const page = show({ status: "failed" });
    expect(page.root.querySelector("[data-state=running]")).toBeNull();
    vi.advanceTimersByTime(60_000);
    expect(cell(page, "Building engine", "time")).toBe("4.0 s");
  });

  it("keep their elements over updates, whatever comes and goes around them", async () => {
    const page = showAlive();
    const lines = makeRows().map(({ name }) => [name, page.line(name)] as const);
    const fresh = makeRow({ id: 9, parent: 0, depth: 1, name: "Parsing", running: false, runs: 1 });
    const [first, ...others] = makeRows();
    if (first === undefined) throw new Error("no rows");
    await page.model.write({ rows: [{ ...first, done: 4 }, fresh, ...others] });
    for (const [name, line] of lines) expect(page.line(name)).toBe(line);
    const names = () => [...page.root.querySelectorAll(".label")].map((label) => label.textContent);
    expect(names()[1]).toBe("Parsing");
    await page.model.write({ rows: makeRows() });
    expect(names()).toEqual(makeRows().map(({ name }) => name));
    for (const [name, line] of lines) expect(page.line(name)).toBe(line);
  });

  it("are drawn in the new order when it changes", async () => {
    const child = (id: number) => makeRow({ id, parent: 0, depth: 1, name: `row ${id}` });
    const page = showAlive({ rows: [makeRow({}), child(1), child(2), child(3)] });
    const line = page.line("row 3");
    await page.model.write({ rows: [makeRow({}), child(3), child(1), child(2)] });
    const names = [...page.root.querySelectorAll(".label")].map((label) => label.textContent);
    expect(names).toEqual(["Building engine", "row 3", "row 1", "row 2"]);
    expect(page.line("row 3")).toBe(line);
  });

  it("of an unknown parent are shown at the top, not lost", () => {
    const page = showAlive({ rows: [makeRow({ id: 5, parent: 77, name: "stray" })] });
    expect(page.line("stray").closest("ul")).toBe(page.find(".rows"));
  });

  it("are touched only where something changed", async () => {
    const rows = Array.from({ length: 30 }, (_, id) =>
      makeRow({ id, name: `row ${id}`, running: false, runs: 1, seconds: id }),
    );
    const page = showAlive({ rows });
    await page.model.write({ rows });
    const touched: Node[] = [];
    const observer = new MutationObserver((records) => {
      for (const record of records) touched.push(record.target);
    });
    observer.observe(page.find(".rows"), {
      attributes: true,
      characterData: true,
      childList: true,
      subtree: true,
    });
    await page.model.write({ rows: rows.map((row) => ({ ...row })) });
    await vi.advanceTimersByTimeAsync(0);
    expect(touched).toEqual([]);
    await page.model.write({
      rows: rows.map((row) => (row.id === 7 ? { ...row, seconds: 99 } : row)),
    });
    await vi.advanceTimersByTimeAsync(0);
    observer.disconnect();
    expect(touched.length).toBeGreaterThan(0);
    for (const node of touched) expect(page.line("row 7").contains(node)).toBe(true);
  });

  it("fold, and stay folded over updates and new children", async () => {
    const page = showAlive();
    const fold = page.line("Timing tactics").querySelector("button") as HTMLButtonElement;
    const list = page.line("Determining refit engines").closest("ul") as HTMLElement;
    expect(fold.getAttribute("aria-label")).toBe("Timing tactics");
    expect(fold.getAttribute("aria-expanded")).toBe("true");
    expect(fold.getAttribute("aria-controls")).toBe(list.id);
    fold.click();
    expect(fold.getAttribute("aria-expanded")).toBe("false");
    expect(list.hidden).toBe(true);
    await page.model.write({
      rows: [
        ...makeRows(),
        makeRow({ id: 9, parent: 2, depth: 2, name: "Computing profile costs" }),
      ],
    });
    expect(list.hidden).toBe(true);
    fold.click();
    expect(list.hidden).toBe(false);
  });

  it("without children offer nothing to fold", () => {
    const page = showAlive();
    expect(page.line("Optimizing graph").querySelector("button")?.hidden).toBe(true);
  });
});

describe("clocks", () => {
  it("stand still until the kernel is heard of", () => {
    const page = show();
    expect(moving(page)).toBe(false);
    vi.advanceTimersByTime(3000);
    expect(page.text(".times")).toBe("4.0 s · about 20–30 s left");
    page.model.reply("hello");
    expect(moving(page)).toBe(true);
  });

  it("run between updates", async () => {
    const page = showAlive({ idle_usual: 14 });
    await page.model.write({ elapsed: 4 });
    vi.advanceTimersByTime(4000);
    expect(page.text(".times")).toBe("8.0 s · about 16–26 s left");
    expect(page.line("Building engine").querySelector(".time")?.textContent).toBe("8.0 s");
    expect(page.line("Optimizing graph").querySelector(".time")?.textContent).toBe("240 ms");
    expect(page.line("Determining refit engines").title).toContain("this run 4.5 s");
    expect(page.text(".words")).toBe(
      "no step for 4 s, still in Determining refit engines (quiet up to 14 s is usual here)",
    );
  });

  it("say when the silence is unusual", async () => {
    const page = showAlive();
    await page.model.write({ idle_for: 12.3, idle_usual: 4 });
    expect(page.text(".words")).toBe(
      "no step for 12 s, still in Determining refit engines, unusual: at most 4 s before",
    );
    await page.model.write({ idle_usual: null });
    expect(page.text(".words")).toBe("no step for 12 s, still in Determining refit engines");
    await page.model.write({ idle_for: 0.1 });
    expect(page.text(".words")).toBe("from 3 builds before");
  });

  it("are not set back by a message that comes late", async () => {
    const page = showAlive({ elapsed: 20 });
    vi.advanceTimersByTime(1000);
    expect(page.text(".times")).toMatch(/^21 s/);
    await page.model.write({ elapsed: 20.7 });
    expect(page.text(".times")).toMatch(/^21 s/);
  });

  it("follow the kernel after its machine slept", async () => {
    const page = showAlive({ elapsed: 20 });
    vi.advanceTimersByTime(3000);
    await page.model.write({ elapsed: 20.5 });
    expect(page.text(".times")).toMatch(/^20 s/);
  });

  it("follow a build that starts after its time in the queue", async () => {
    const page = showAlive({ status: "queued", elapsed: 0 });
    vi.advanceTimersByTime(900);
    await page.model.write({ status: "building", elapsed: 0.1 });
    expect(page.text(".times")).toMatch(/^0\.1 s/);
  });

  it("use one timer, and none after the end", async () => {
    const page = showAlive();
    await pass(page, 20, 4);
    expect(vi.getTimerCount()).toBe(1);
    await page.model.write({ status: "built", elapsed: 25 });
    expect(vi.getTimerCount()).toBe(0);
    expect(moving(page)).toBe(false);
  });
});

describe("Stop", () => {
  it("says Stopping… in the same tick and sends one message", () => {
    const page = showAlive();
    expect(page.model.sent).toEqual([{ command: "hello" }]);
    page.find(".stop").click();
    expect(page.text(".stop")).toBe("Stopping…");
    expect(page.find(".stop").getAttribute("aria-disabled")).toBe("true");
    for (let i = 0; i < 50; i += 1) page.find(".stop").click();
    expect(page.model.sent).toEqual([{ command: "hello" }, { command: "stop" }]);
  });

  it("names the Interrupt button when the kernel does not answer within 1 s", async () => {
    const page = showAlive();
    page.find(".stop").click();
    vi.advanceTimersByTime(500);
    await page.model.write({ elapsed: 4.5 });
    vi.advanceTimersByTime(499);
    expect(page.text(".words")).not.toContain("busy");
    vi.advanceTimersByTime(1);
    expect(page.text(".words")).toMatch(/^The kernel is busy.*Interrupt button \(■\)/);
    expect(page.text(".live")).toContain("Interrupt");
    await page.model.write({ elapsed: 5.1 });
    expect(page.text(".words")).toContain("busy");
    page.model.reply("stop");
    expect(page.text(".words")).toBe("from 3 builds before");
    expect(page.text(".stop")).toBe("Stopping…");
  });

  it.each([
    ["a reply", (page: Page) => page.model.reply("stop")],
    ["a status", (page: Page) => page.model.write({ status: "stopping" })],
  ])("is content with %s", async (_, answer) => {
    const page = showAlive();
    page.find(".stop").click();
    vi.advanceTimersByTime(600);
    await answer(page);
    vi.advanceTimersByTime(1400);
    expect(page.text(".words")).not.toContain("busy");
    expect(page.text(".stop")).toBe("Stopping…");
  });

  it("goes on to Stop now once that is possible", async () => {
    const page = showAlive();
    page.find(".stop").click();
    await page.model.write({ status: "stopping", can_end_now: true, end_in: 10 });
    expect(page.text(".stop")).toBe("Stop now");
    expect(page.find(".stop").hasAttribute("aria-disabled")).toBe(false);
  });

  it("keeps Enter and Space from the notebook", () => {
    const page = showAlive();
    const heard = vi.fn();
    document.body.addEventListener("keydown", heard);
    const press = (key: string) =>
      page
        .find(".stop")
        .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
    press("Enter");
    press(" ");
    expect(heard).not.toHaveBeenCalled();
    press("j");
    expect(heard).toHaveBeenCalledOnce();
    document.body.removeEventListener("keydown", heard);
  });
});

describe("without a kernel", () => {
  it("dims after 5 s, says since when, and nothing moves or can be pressed", () => {
    const page = show();
    vi.advanceTimersByTime(4999);
    expect(page.find(".card").hasAttribute("data-lost")).toBe(false);
    vi.advanceTimersByTime(1);
    expect(page.find(".card").hasAttribute("data-lost")).toBe(true);
    expect(page.text(".words")).toBe("No kernel: last updated 14:03:22");
    expect(page.find(".stop").hidden).toBe(true);
    expect(moving(page)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("shows after the silence what was last known", async () => {
    const page = showAlive();
    await page.model.write({ elapsed: 6 });
    vi.advanceTimersByTime(4000);
    expect(page.text(".times")).toMatch(/^10 s/);
    vi.advanceTimersByTime(60_000);
    expect(page.text(".times")).toBe("6.0 s · about 20–30 s left");
    expect(page.line("Building engine").querySelector(".time")?.textContent).toBe("4.0 s");
  });

  it("comes back to life on the next update, with a Stop to press", async () => {
    const page = showAlive();
    page.find(".stop").click();
    vi.advanceTimersByTime(10_000);
    expect(page.find(".card").hasAttribute("data-lost")).toBe(true);
    await page.model.write({ elapsed: 14 });
    expect(page.find(".card").hasAttribute("data-lost")).toBe(false);
    expect(page.text(".stop")).toBe("Stop");
    expect(page.find(".stop").hidden).toBe(false);
    vi.advanceTimersByTime(2000);
    expect(page.text(".times")).toMatch(/^16 s/);
  });

  it("stays lively as long as heartbeats come", async () => {
    const page = showAlive();
    await pass(page, 30, 4);
    expect(page.find(".card").hasAttribute("data-lost")).toBe(false);
  });

  it("does not dim a build that has ended", () => {
    const page = show({ status: "built" });
    vi.advanceTimersByTime(60_000);
    expect(page.find(".card").hasAttribute("data-lost")).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("says so at once when a message cannot be sent", () => {
    const page = showAlive();
    vi.spyOn(page.model, "send").mockImplementation(() => {
      throw new Error("comm is closed");
    });
    page.find(".stop").click();
    expect(page.text(".words")).toMatch(/^No kernel/);
  });

  it("asks again when the page is looked at", () => {
    const page = show();
    vi.advanceTimersByTime(6000);
    document.dispatchEvent(new Event("visibilitychange"));
    expect(page.model.sent).toEqual([{ command: "hello" }, { command: "hello" }]);
  });
});

describe("screen readers", () => {
  it("hear of the outer phases now and then, and never of ticks", async () => {
    const page = showAlive();
    const live = page.find(".live");
    expect(live.getAttribute("aria-live")).toBe("polite");
    expect(live.textContent).toBe("Timing tactics");
    const spoken = vi.fn();
    const observer = new MutationObserver(spoken);
    observer.observe(live, { childList: true, characterData: true, subtree: true });
    await pass(page, 20, 4);
    await vi.advanceTimersByTimeAsync(0);
    expect(spoken).not.toHaveBeenCalled();
    observer.disconnect();
  });

  it("are not flooded by phases", async () => {
    const page = showAlive();
    const phase = (name: string) => ({ rows: [makeRow({ name })] });
    vi.advanceTimersByTime(1000);
    await page.model.write(phase("Parsing"));
    vi.advanceTimersByTime(3000);
    await page.model.write(phase("Building engine"));
    expect(page.text(".live")).toBe("Timing tactics");
    vi.advanceTimersByTime(1000);
    expect(page.text(".live")).toBe("Building engine");
  });

  it("hear of the end at once, with the error", async () => {
    const page = showAlive();
    await page.model.write({ status: "failed", message: "No such file.", elapsed: 5 });
    expect(page.text(".live")).toBe("Failed after 5.0 s. No such file.");
  });
});

describe("views", () => {
  it("of one model agree, and fold each for itself", async () => {
    const page = showAlive();
    const other = open(page.model);
    pages.push(other);
    expect(other.model.sent.length).toBe(2);
    await page.model.write({ elapsed: 7, fraction: 0.6 });
    for (const view of [page, other]) {
      expect(view.text(".percent")).toBe("60 %");
      expect(view.text(".times")).toMatch(/^7\.0 s/);
    }
    page.line("Timing tactics").querySelector("button")?.click();
    expect(other.line("Determining refit engines").closest("ul")?.hidden).toBe(false);
    page.find(".stop").click();
    await page.model.write({ status: "stopping" });
    expect(other.text(".stop")).toBe("Stopping…");
    other.close();
    await page.model.write({ status: "stopped", elapsed: 8 });
    expect(page.text(".status")).toBe("Stopped");
  });

  it("draw once for a message that changes many traits", async () => {
    const page = showAlive();
    const get = vi.spyOn(page.model, "get");
    await page.model.write({ elapsed: 5, fraction: 0.5, rows: makeRows(), idle_for: 1 });
    expect(get.mock.calls.filter(([name]) => name === "rows").length).toBe(1);
  });

  it("leave nothing behind", async () => {
    const page = showAlive();
    const stop = page.find(".stop");
    expect(page.model.listening).toBeGreaterThan(0);
    const written = page.model.write({ elapsed: 5 });
    page.close();
    await written;
    expect(page.model.listening).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(document.querySelector(".trtwidget")).toBeNull();
    stop.click();
    document.dispatchEvent(new Event("visibilitychange"));
    vi.advanceTimersByTime(10_000);
    expect(page.model.sent).toEqual([{ command: "hello" }]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
