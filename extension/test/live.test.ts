// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { groupOf } from "../src/live";
import type { LiveState, Mark } from "../src/model";
import { FakeModel, stage } from "./fake";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const { el, show } = stage();

const TAGS = ["loss/train", "loss/test", "accuracy"].map((name, i) => ({ name, color_index: i }));

function board(more: Partial<LiveState> = {}): FakeModel {
  const state = { title: "digits", tags: TAGS, smoothing: 0, x: "step", ...more };
  return show(new FakeModel({ kind: "live", state }));
}

function frame(): void {
  vi.advanceTimersByTime(40);
}

function paths(): string[] {
  return [...el.querySelectorAll(".tfnb-line")].map((line) => line.getAttribute("d") ?? "");
}

test("says that it is ready and groups tags into panels", () => {
  const model = board();
  expect(model.sent).toEqual([{ type: "ready" }]);
  expect([...el.querySelectorAll("figcaption")].map((one) => one.textContent)).toEqual(["loss", "accuracy"]);
  expect(groupOf({ name: "a/b/c", color_index: 0 })).toBe("a/b");
  const names = ["loss", "val_loss", "loss_test", "train_loss", "loss_now", "test"];
  const found = names.map((name) => groupOf({ name, color_index: 0 }));
  expect(found).toEqual(["loss", "loss", "loss", "loss", "loss_now", "test"]);
  expect(groupOf({ name: "a/b", color_index: 0, group: "mine" })).toBe("mine");
});

test("draws points once a frame and shows the last value", () => {
  const model = board();
  model.points(0, 0, [0, 2, 1, 1]);
  model.points(0, 2, [2, 0.5]);
  expect(paths()).toEqual([]);
  frame();
  expect(paths()).toHaveLength(1);
  expect(el.querySelector(".tfnb-legend")?.textContent).toContain("train 0.5");
});

test("points that overlap replace, missing ones are asked for, reset empties", () => {
  const model = board();
  model.points(2, 0, [0, 1, 1, 2, 2, 3]);
  model.points(2, 1, [1, 9]);
  frame();
  expect(el.textContent).toContain("accuracy 9");
  model.points(2, 50, [50, 1]);
  expect(model.sent).toEqual([{ type: "ready" }, { type: "ready" }]);
  model.emit("msg:custom", { type: "reset" }, []);
  frame();
  expect(paths()).toEqual([]);
});

test("NaN is a gap, and a lone point is still seen", () => {
  const model = board();
  model.points(0, 0, [0, 1, 1, 2, 2, Number.NaN, 3, 1, 4, 2]);
  model.points(2, 0, [0, 1]);
  frame();
  expect(paths()[0]?.match(/M/g)).toHaveLength(2);
  expect(paths()[1]).toContain("h.1");
});

test("smoothing adds a second line and the legend hides a curve", () => {
  const model = board({ smoothing: 0.6 });
  model.points(2, 0, [0, 1, 1, 3]);
  frame();
  expect(paths()).toHaveLength(2);
  const entry = [...el.querySelectorAll<HTMLElement>(".tfnb-legend button")].at(-1);
  entry?.click();
  frame();
  expect(paths()).toHaveLength(0);
  expect(entry?.getAttribute("aria-pressed")).toBe("false");
});

test("runs apart stand side by side in one scale, along steps or seconds", () => {
  const tags = ["slow", "fast"].flatMap((run, color_index) =>
    ["loss", "acc"].map((share) => ({ name: run, color_index, group: `${share} · ${run}`, share })),
  );
  const model = board({ tags, x: "time", grid: 2 });
  model.points(0, 0, [0, 100, 40, 50]);
  model.points(2, 0, [0, 0, 20, 1]);
  frame();
  const titles = [...el.querySelectorAll("figcaption")].map((one) => one.textContent);
  expect(titles).toEqual(["loss · slow", "loss · fast", "acc · slow", "acc · fast"]);
  expect(el.querySelector<HTMLElement>(".tfnb-panels")?.style.gridTemplateColumns).toContain("repeat(2");
  const words = [...el.querySelectorAll(".tfnb-plot")].map((svg) =>
    [...svg.querySelectorAll("text")].map((text) => text.textContent),
  );
  expect(words[0]).toEqual(words[1]);
  expect(words[1]).toContain("20 s");
  const axis = el.querySelector("select") as HTMLSelectElement;
  axis.value = "step";
  axis.dispatchEvent(new Event("change"));
  frame();
  expect(el.querySelector(".tfnb-plot")?.textContent).toContain("40");
});

test("code and reader both choose how it is drawn", () => {
  const model = board({ smoothing: 0.5 });
  const slider = el.querySelector("input[type=range]") as HTMLInputElement;
  slider.value = "0.8";
  slider.dispatchEvent(new Event("input"));
  slider.dispatchEvent(new Event("change"));
  expect(model.sent.at(-1)).toEqual({ type: "look", smoothing: 0.8, x: "step" });
  const state = model.get("state") as LiveState;
  model.setState({ ...state, title: "later" });
  expect(slider.value).toBe("0.8");
  model.setState({ ...state, smoothing: 0.1, x: "time", grid: 3 });
  expect([slider.value, el.querySelector("select")?.value]).toEqual(["0.1", "time"]);
  expect(el.querySelector<HTMLElement>(".tfnb-panels")?.style.gridTemplateColumns).toContain("repeat(3");
});

test("says what it waits for", () => {
  board({ tags: [], empty: "did you mean <loss>?" });
  expect(el.querySelector(".tfnb-empty")?.textContent).toBe("did you mean <loss>?");
});

test("a new tag gets a panel and keeps the points that came before it", () => {
  const model = board({ tags: TAGS.slice(0, 1) });
  model.points(0, 0, [0, 1, 1, 2]);
  model.setState({ title: "", tags: TAGS, smoothing: 0, x: "step" });
  frame();
  expect(el.querySelectorAll("figure")).toHaveLength(2);
  expect(paths()).toHaveLength(1);
});

test("a damaged message is an error in the view, not the end of it", () => {
  const model = board();
  model.emit("msg:custom", { type: "points", tag: -1, start: 0 }, []);
  expect(el.querySelector(".tfnb-error")?.textContent).toContain("points message");
  model.points(0, 0, [0, 1, 1, 2]);
  frame();
  expect(paths()).toHaveLength(1);
});

test("hostile tags are text", () => {
  board({ tags: [{ name: "<img src=x onerror=alert(1)>", color_index: 0 }] });
  expect(el.querySelector("img")).toBeNull();
  expect(el.textContent).toContain("<img src=x");
});

test("a curve that the reader hid stays hidden when a tag comes", () => {
  const model = board();
  const pressed = () =>
    [...el.querySelectorAll("[aria-pressed]")].map((one) => one.getAttribute("aria-pressed"));
  for (const tag of [0, 1, 2]) model.points(tag, 0, [0, 1, 1, 2]);
  (el.querySelector("[aria-pressed]") as HTMLElement).click();
  frame();
  model.setState({ title: "", tags: [...TAGS, { name: "more", color_index: 3 }], smoothing: 0, x: "step" });
  frame();
  expect(pressed()).toEqual(["false", "true", "true", "true"]);
  for (const one of el.querySelectorAll<HTMLElement>("[aria-pressed=true]")) one.click();
  frame();
  expect(el.querySelector(".tfnb-plot")?.textContent).toContain("all of it is hidden");
  for (const one of el.querySelectorAll<HTMLElement>("[aria-pressed]")) one.click();
  (el.querySelector("[aria-pressed]") as HTMLElement).click();
  frame();
  expect(paths()).toHaveLength(2);
});

test("equal values have a range around them, smoothed or not, at any step", () => {
  for (const [value, step] of [
    [0.1, 0],
    [5, 1.7e18],
  ] as [number, number][]) {
    const model = board({ smoothing: 0.6 });
    model.points(2, 0, Array.from({ length: 40 }, () => [step, value]).flat());
    frame();
    expect(paths()).toHaveLength(2);
    expect(el.querySelectorAll(".tfnb-grid").length).toBeLessThan(20);
    expect(paths().join()).not.toContain("NaN");
    el.replaceChildren();
  }
});

const MARKS: Mark[] = [
  [3, 1.5, "rate", "rate 0.1 → 0.01 at step 3 <img>", -1],
  [8, 4, "end", "stopped: by Interrupt at step 8", -1],
];

/** A board of one curve with ten steps and two marks, 400 pixels wide. */
function marked(more: Partial<LiveState> = {}): [FakeModel, SVGElement] {
  const model = board({ tags: TAGS.slice(2), marks: MARKS, ...more });
  model.points(0, 0, Array.from({ length: 10 }, (_, i) => [i, i]).flat());
  frame();
  return [model, el.querySelector(".tfnb-plot") as SVGElement];
}

function point(svg: Element, name: string, x: number, y = 100): void {
  svg.dispatchEvent(new PointerEvent(name, { clientX: x, clientY: y, button: 0 }));
  frame();
}

test("marks stand where things happened, and the pointer tells of them", () => {
  const [, svg] = marked();
  const titles = [...svg.querySelectorAll(".tfnb-mark title")].map((one) => one.textContent);
  expect(titles).toEqual(MARKS.map((mark) => mark[3]));
  expect(svg.querySelector("img")).toBeNull();
  expect(svg.getAttribute("aria-label")).toContain("by Interrupt at step 8");
  const place = Number(
    svg
      .querySelector(".tfnb-mark path")
      ?.getAttribute("d")
      ?.match(/M([\d.]+)/)?.[1],
  );
  point(svg, "pointermove", place + 1);
  expect(el.querySelector(".tfnb-tip")?.textContent).toContain("◆ rate 0.1 → 0.01 at step 3");
});

test("a drag zooms all panels, a tall one this panel's values, and the button shows all again", () => {
  const [, svg] = marked();
  const reset = [...el.querySelectorAll("button")].find((one) => one.textContent === "Show all");
  const ticks = () => [...svg.querySelectorAll("text")].map((one) => one.textContent).join();
  const before = ticks();
  expect(reset?.hidden).toBe(true);
  point(svg, "pointerdown", 150);
  point(svg, "pointermove", 250);
  expect(svg.querySelector(".tfnb-band")).not.toBeNull();
  point(svg, "pointerup", 250);
  expect(svg.querySelector(".tfnb-band")).toBeNull();
  expect(ticks()).not.toBe(before);
  expect(reset?.hidden).toBe(false);
  reset?.click();
  frame();
  expect(ticks()).toBe(before);
  point(svg, "pointerdown", 200, 60);
  point(svg, "pointermove", 201, 120);
  point(svg, "pointerup", 201, 120);
  expect(ticks()).not.toBe(before);
  svg.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  frame();
  expect(ticks()).toBe(before);
  svg.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
  frame();
  expect(ticks()).not.toBe(before);
  svg.dispatchEvent(new MouseEvent("dblclick"));
  frame();
  expect(ticks()).toBe(before);
});

test("the pointer over one panel marks the same step in all", () => {
  const model = board();
  for (const tag of [0, 2]) model.points(tag, 0, [0, 1, 1, 2, 2, 3]);
  frame();
  const [first] = el.querySelectorAll(".tfnb-plot");
  point(first as Element, "pointermove", 400);
  expect(el.querySelectorAll(".tfnb-cross")).toHaveLength(2);
  const tips = [...el.querySelectorAll(".tfnb-tip small")].map((one) => one.textContent);
  expect(tips).toEqual(["step 2 · 1 s", "step 2 · 1 s"]);
  point(first as Element, "pointerleave", 0);
  expect(el.querySelectorAll(".tfnb-cross")).toHaveLength(0);
});

test("a step has one time, though the curves of two panels are thinned to different points", () => {
  const model = board();
  model.points(0, 0, [0, 1, 10, 2, 20, 3]);
  model.points(2, 0, [0, 1, 12, 2, 20, 3]);
  frame();
  point(el.querySelectorAll(".tfnb-plot")[1] as Element, "pointermove", 220);
  const tips = [...el.querySelectorAll(".tfnb-tip small")].map((one) => one.textContent);
  expect(tips).toEqual(["step 12 · 6 s", "step 12 · 6 s"]);
});

test("other runs are grey, asked for by a box, and leave the colours as they are", () => {
  const [model] = marked({ others: [], others_shown: false });
  const box = () => el.querySelectorAll<HTMLInputElement>("input[type=checkbox]")[1] as HTMLInputElement;
  const own = () => el.querySelector(".tfnb-line:not(.is-other)")?.getAttribute("class");
  const before = own();
  box().click();
  expect(model.sent.at(-1)).toEqual({ type: "look", smoothing: 0, x: "step", others: true });
  const others = [{ name: "<b>slow", group: "accuracy" }];
  model.setState({ ...(model.get("state") as LiveState), others, others_shown: true });
  model.points(1000, 0, [0, 1, 1, 3]);
  frame();
  expect(el.querySelectorAll(".tfnb-line.is-other")).toHaveLength(1);
  expect(own()).toBe(before);
  expect(el.querySelectorAll(".tfnb-legend button")).toHaveLength(1);
  model.setState({ ...(model.get("state") as LiveState), others: [], others_shown: false });
  frame();
  expect(el.querySelectorAll(".tfnb-line.is-other")).toHaveLength(0);
});

test("runs of different lengths are comparable by their share, and the legend has the range", () => {
  const model = board({ x: "share" });
  model.points(0, 0, [0, 1, 50, 2, 100, 0.5]);
  model.points(1, 0, [0, 1, 10, 3]);
  frame();
  const [a, b] = paths().map((d) => Number(d.match(/([\d.]+) [\d.]+$/)?.[1]));
  expect(a).toBe(b);
  expect(el.querySelector(".tfnb-plot")?.textContent).toContain("100 %");
  expect(el.querySelector(".tfnb-legend")?.textContent).toContain("train 0.5 min 0.5 · max 2");
});

test("a plot that is zoomed asks for finer points, and draws them", () => {
  const [model, svg] = marked();
  point(svg, "pointerdown", 150);
  point(svg, "pointermove", 250);
  point(svg, "pointerup", 250);
  const asked = model.sent.at(-1) as { type: string; range: [number, number] };
  expect(asked.type).toBe("zoom");
  const fine = Array.from({ length: 300 }, (_, i) => [2 + i / 100, i % 2, 0]).flat();
  const buffer = new DataView(new Float32Array(fine).buffer);
  model.emit("msg:custom", { type: "detail", tag: 0, range: asked.range }, [buffer]);
  frame();
  expect(paths()[0]?.split("L").length).toBeGreaterThan(50);
  svg.dispatchEvent(new MouseEvent("dblclick"));
  frame();
  expect(paths()[0]?.split("L")).toHaveLength(10);
});
