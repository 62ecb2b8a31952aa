// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { TimelineState } from "../src/model";
import { shortTime } from "../src/timeline";
import { FakeModel, stage } from "./fake";

const { el, show } = stage();

const WIDE: TimelineState["bars"] = [
  [0, 400_000, 0, 0, 0, 0, 4096],
  [500_000, 500_000, 1, 1, 1, 1, -1],
];
/** A thousand bars of a nanosecond each, from 400 to 401 microseconds. */
const NARROW: TimelineState["bars"] = Array.from({ length: 1000 }, (_, i) => [
  400_000 + i,
  1,
  0,
  2,
  0,
  0,
  64,
]);

function timeline(bars: TimelineState["bars"] = WIDE, more: Partial<TimelineState> = {}): FakeModel {
  const kinds = [
    ["MatMul", "<img src=x>"],
    ["Summary", "here"],
  ];
  const ways = ["kernel", "op"];
  const shown = {
    end: 1_000_000,
    by: "kernel",
    ways,
    lanes: ["kernels", "host calls"],
    kinds,
    lit: -1,
    bars,
  };
  const none = { title: "Profile", note: "", buttons: [], tables: [], heat: null };
  return show(new FakeModel({ kind: "sheet", state: { ...none, timeline: { ...shown, ...more } } }));
}

const plot = () => el.querySelector(".tfnb-plot") as SVGSVGElement;
const tip = () => el.querySelector(".tfnb-tip") as HTMLElement;
const press = (key: string) =>
  plot().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const seen = () => plot().getAttribute("aria-label");

test("the arrow keys go from bar to bar, and each tells its lines as text", () => {
  timeline();
  press("ArrowRight");
  expect(tip().hidden).toBe(false);
  expect(tip().textContent).toBe("MatMul400 µs as it ran, at 0 µs<img src=x>");
  expect(el.querySelector("img")).toBeNull();
  press("ArrowRight");
  press("ArrowRight");
  expect(tip().textContent).toContain("Summary500 µs as it ran, at 500 µs");
  expect(el.querySelectorAll("rect.is-picked")).toHaveLength(1);
});

test("keys and buttons zoom and move, never beyond the run", () => {
  timeline();
  expect(seen()).toBe("Timeline, 0 µs to 1 ms: 2 of 2 bars");
  press("+");
  expect(seen()).toBe("Timeline, 250 µs to 750 µs: 2 of 2 bars");
  for (let i = 0; i < 4; i++) press("PageUp");
  expect(seen()).toBe("Timeline, 0 µs to 500 µs: 2 of 2 bars");
  for (let i = 0; i < 30; i++) press("ArrowUp");
  expect(seen()).toMatch(/: 1 of 2 bars/);
  (
    el.querySelector(
      "[aria-label='Whole: Show the whole run'], [aria-label='Show the whole run']",
    ) as HTMLElement
  ).click();
  expect(seen()).toBe("Timeline, 0 µs to 1 ms: 2 of 2 bars");
});

test("bars that are too narrow are added up into columns, and reached by looking closer", () => {
  timeline(NARROW);
  expect(el.querySelectorAll("rect").length).toBeLessThan(5);
  press("ArrowRight");
  for (let i = 0; i < 30; i++) press("ArrowUp");
  expect(el.querySelectorAll("rect").length).toBeGreaterThan(50);
  press("ArrowRight");
  expect(tip().textContent).toContain("0.001 µs as it ran");
});

test("a group is lit, another grouping asked for, and the letters on bars fit", () => {
  const model = timeline(WIDE, { lit: 1 });
  expect(el.querySelectorAll("rect.is-faint")).toHaveLength(1);
  const by = el.querySelector("select") as HTMLSelectElement;
  by.value = "op";
  by.dispatchEvent(new Event("change"));
  expect(model.sent).toEqual([{ type: "act", act: "by op" }]);
  expect([...el.querySelectorAll(".is-label")].map((label) => label.textContent)).toEqual([
    "MatMul",
    "Summary",
  ]);
  model.setState({ ...(model.get("state") as object), timeline: { ...timelineOf(model), end: 100_000_000 } });
  expect(el.querySelectorAll(".is-label")).toHaveLength(0);
});

test("the wheel zooms where the reader works in the drawing, and scrolls the notebook else", () => {
  timeline();
  const wheel = (ctrlKey: boolean) => {
    const event = new WheelEvent("wheel", { deltaY: -400, bubbles: true, cancelable: true });
    Object.defineProperty(event, "ctrlKey", { value: ctrlKey });
    Object.defineProperty(event, "clientX", { value: 300 });
    plot().dispatchEvent(event);
    return event.defaultPrevented;
  };
  expect([wheel(false), wheel(true)]).toEqual([false, true]);
  expect(seen()).not.toContain("0 µs to 1 ms");
});

test("times have units", () => {
  expect([840, 12_345, 1_234_567, 999_990_000, 2.5e9].map(shortTime)).toEqual([
    "0.84 µs",
    "12.35 µs",
    "1.235 ms",
    "1 s",
    "2.5 s",
  ]);
});

function timelineOf(model: FakeModel): TimelineState {
  return (model.get("state") as { timeline: TimelineState }).timeline;
}
