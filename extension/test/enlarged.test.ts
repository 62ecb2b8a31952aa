// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import type { HeatState, SliderState } from "../src/model";
import { FakeModel, graphState, SVG, stage } from "./fake";

const { el, show } = stage();
afterEach(() => vi.useRealTimers());

const DATA = btoa(String.fromCharCode(...new Uint8Array(new Float32Array([0, 1, 2, 3]).buffer)));
const PANEL: HeatState["panels"][number] = {
  title: "channel 0",
  note: "",
  rows: 2,
  cols: 2,
  form: "matrix",
  limit: 3,
  data: DATA,
  shape: [2, 2],
  start: [0, 0],
  block: [1, 1],
  tile: [1, 1],
};
const PLACE: SliderState = {
  name: "place",
  label: "example",
  value: 0,
  most: 2,
  words: "0 of 3",
  options: [],
  play: true,
};
const BESIDE: SliderState = {
  ...PLACE,
  name: "beside",
  label: "beside it",
  options: ["nothing", "<b>run</b>"],
  most: 1,
  play: false,
};

function large(more: Partial<HeatState> = {}): HeatState {
  const none = { zoomed: false, first: false, room: 120, close: true, facts: "float32[3]", again: true };
  return { title: "h:0", panels: [PANEL, PANEL], sliders: [PLACE, BESIDE], ...none, ...more };
}

const graph = (enlarged: HeatState | null, svg = SVG) =>
  show(new FakeModel({ kind: "graph", state: graphState({ svg, enlarged }) }));
const slide = (input: HTMLInputElement, value: number) => {
  input.value = String(value);
  input.dispatchEvent(new Event("input"));
};

test("a value on an edge is asked for, by a click and by the keyboard", () => {
  const svg = SVG.replace('<g class="labels">', "").replace(
    "</svg>",
    '<g class="value" data-tensor="h:0"></g></svg>',
  );
  const model = graph(null, svg);
  const value = el.querySelector("[data-tensor]") as SVGElement;
  value.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  value.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  expect(model.sent).toEqual(Array(2).fill({ type: "enlarge", name: "h:0" }));
  expect([value.getAttribute("tabindex"), value.getAttribute("role")]).toEqual(["0", "button"]);
});

test("it stands below the graph with its figures and one scale, and goes away", () => {
  const model = graph(large());
  const heat = () => el.querySelector(".tfnb-heat") as HTMLElement;
  expect(heat().querySelectorAll("canvas")).toHaveLength(2);
  expect(heat().querySelectorAll(".tfnb-scale")).toHaveLength(1);
  expect(heat().querySelector(".tfnb-facts")?.textContent).toBe("float32[3]-33");
  expect(heat().querySelector("option + option")?.textContent).toBe("<b>run</b>");
  (heat().querySelector("[aria-label^='Look again']") as HTMLElement).click();
  (heat().querySelector("[aria-label='Close the pictures']") as HTMLElement).click();
  expect(model.sent).toEqual([{ type: "look" }, { type: "enlarge", name: "" }]);
  model.setState(graphState({ enlarged: null }));
  expect(heat().hidden).toBe(true);
});

test("a slider sends one place at a time, the newest when the kernel has answered", () => {
  const model = graph(large());
  const input = el.querySelector("input[aria-label=example]") as HTMLInputElement;
  slide(input, 1);
  slide(input, 2);
  expect(model.sent).toEqual([{ type: "slide", name: "place", value: 1 }]);
  model.setState(graphState({ enlarged: large({ sliders: [{ ...PLACE, value: 1 }, BESIDE] }) }));
  expect(model.sent[1]).toEqual({ type: "slide", name: "place", value: 2 });
  expect(input.value).toBe("2");
  model.setState(
    graphState({ enlarged: large({ sliders: [{ ...PLACE, value: 2, words: "2 of 3" }, BESIDE] }) }),
  );
  expect(input.isConnected).toBe(true);
  expect(el.querySelector(".tfnb-sliders output")?.textContent).toBe("2 of 3");
  expect(model.sent).toHaveLength(2);
});

test("what runs by itself goes from place to place, and round", () => {
  vi.useFakeTimers();
  const model = graph(large({ sliders: [{ ...PLACE, value: 2 }, BESIDE] }));
  const play = el.querySelector(".tfnb-sliders button") as HTMLElement;
  play.click();
  expect(play.getAttribute("aria-pressed")).toBe("true");
  vi.advanceTimersByTime(3000);
  expect(model.sent).toEqual([{ type: "slide", name: "place", value: 0 }]); // it waits for the answer
  model.setState(graphState({ enlarged: large() }));
  vi.advanceTimersByTime(800);
  expect(model.sent[1]).toEqual({ type: "slide", name: "place", value: 1 });
  play.click();
  model.setState(graphState({ enlarged: large({ sliders: [{ ...PLACE, value: 1 }, BESIDE] }) }));
  vi.advanceTimersByTime(3000);
  expect(model.sent).toHaveLength(2);
});
