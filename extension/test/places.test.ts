// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { GraphWidget } from "../src/graph";
import { FakeModel, graphState, SVG } from "./fake";

const guard = ((act: unknown) => act) as never;

function widget(state = graphState()): [GraphWidget, FakeModel] {
  const model = new FakeModel({ kind: "graph", state });
  const made = new GraphWidget(model, guard);
  document.body.append(made.root);
  made.update();
  return [made, model];
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("the kernel is told how wide a drawing may be, once it has settled", () => {
  vi.useFakeTimers();
  const [made, model] = widget();
  const width = vi.spyOn(made.root, "clientWidth", "get");
  for (const pixels of [846, 700, 545]) {
    width.mockReturnValue(pixels);
    made.resize();
  }
  vi.runAllTimers();
  expect(model.sent).toEqual([{ type: "room", width: 545 }]);
});

test("a room like the one that was drawn for is not told", () => {
  vi.useFakeTimers();
  for (const [pixels, room] of [
    [850, undefined],
    [548, 545],
    [0, undefined],
  ]) {
    const [made, model] = widget({ ...graphState(), ...(room ? { room } : {}) });
    vi.spyOn(made.root, "clientWidth", "get").mockReturnValue(pixels as number);
    made.resize();
    vi.runAllTimers();
    expect(model.sent).toEqual([]);
  }
});

test("a scope that opens stays under the pointer", () => {
  const [made, model] = widget();
  const at = (x: number) => ({ x, y: 10 }) as DOMRect;
  let place = 50;
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(() => at(place));
  const stage = made.root.querySelector(".tfnb-stage svg");
  const before = Number(stage?.getAttribute("viewBox")?.split(" ")[0]);
  made.root
    .querySelector("g.n[data-open] .fold rect")
    ?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  place = 90; // where the new drawing has it
  model.values.state = { ...graphState(), svg: SVG.replace("n f-scope", "n is-open f-scope") };
  made.update();
  const after = Number(made.root.querySelector(".tfnb-stage svg")?.getAttribute("viewBox")?.split(" ")[0]);
  expect(after - before).toBe(40);
});
