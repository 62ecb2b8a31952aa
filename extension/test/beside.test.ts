// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { place } from "../lab/mark";
import { OFFER, type Offer } from "../src/beside";
import { FakeModel, graphState, stage } from "./fake";

const { el, show, hide } = stage();
let taken: Offer[] = [];
let opened = 0;
const take = (event: Event) => {
  event.preventDefault();
  const { detail } = event as CustomEvent<Offer>;
  detail.open = () => (opened += 1);
  taken.push(detail);
};
afterEach(() => {
  document.removeEventListener(OFFER, take);
  [taken, opened] = [[], 0];
});

/** A graph in a page with the extension of JupyterLab. */
function offered(): [FakeModel, Offer] {
  document.addEventListener(OFFER, take);
  const model = show(new FakeModel({ kind: "graph", state: graphState({ title: "net" }) }));
  return [model, taken[0] as Offer];
}
const go = () => el.querySelector<HTMLButtonElement>('[aria-label="Open beside the code"]');

test("a page without the extension has no button", () => {
  show(new FakeModel({ kind: "graph", state: graphState() }));
  expect(go()).toBeNull();
});

test("the button does what the extension says", () => {
  const [, offer] = offered();
  expect(offer.title).toBe("net");
  go()?.click();
  expect(opened).toBe(1);
});

test("lines are asked for once a drawing, and come from the kernel", async () => {
  const [model, offer] = offered();
  const lines = offer.lines();
  expect(offer.lines()).toBe(lines);
  expect(model.sent).toEqual([{ type: "lines" }]);
  model.emit("msg:custom", { type: "lines", cells: { a: [[1, 2, "x = 1", ["x"]]] }, nodes: {} });
  expect((await lines)?.cells.a?.[0]).toEqual([1, 2, "x = 1", ["x"]]);
  model.setState(graphState({ svg: graphState().svg.replace("layer1", "layer2") }));
  void offer.lines();
  expect(model.sent).toHaveLength(2);
  hide();
  expect(await offer.lines()).toBeUndefined();
});

test("what a line made is marked, also in the next drawing", () => {
  const [model, offer] = offered();
  const marked = () => [...el.querySelectorAll(".is-made")].map((node) => node.getAttribute("data-name"));
  offer.light(new Set(["x", '"]<script>']));
  expect(marked()).toEqual(["x"]);
  model.setState(graphState({ svg: graphState().svg.replace("layer1", "layer2") }));
  expect(marked()).toEqual(["x"]);
  const all = [...el.querySelectorAll("g.n")].map((node) => node.getAttribute("data-name") ?? "");
  for (const keys of [[], all]) {
    offer.light(new Set(keys));
    expect(marked()).toEqual([]);
  }
});

test("of a line in an open scope its nodes glow, not the frame around them", () => {
  const [model, offer] = offered();
  const open = graphState().svg.replace("n f-scope", "n is-open f-scope");
  model.setState(graphState({ svg: open.replace("</svg>", '<g class="n" data-name="y"></g></svg>') }));
  const marked = () => [...el.querySelectorAll(".is-made")].map((node) => node.getAttribute("data-name"));
  offer.light(new Set(["layer1/", "x"]));
  expect(marked()).toEqual(["x"]);
  offer.light(new Set(["layer1/"])); // nothing in it is drawn
  expect(marked()).toEqual(["layer1/"]);
});

test("the extension hears of a selection and of the end", () => {
  const [model, offer] = offered();
  const picked: string[] = [];
  offer.picked = (key) => picked.push(key);
  model.setState(graphState({ selected: "x" }));
  model.setState(graphState({ selected: "x", note: "again" }));
  model.setState(graphState({ selected: "" }));
  expect(picked).toEqual(["x"]);
  hide();
  expect(offer.ended.aborted).toBe(true);
  expect([...model.listeners.values()].flat()).toEqual([]);
});

test("a view that is shown elsewhere leaves a line and a way back", () => {
  const [, offer] = offered();
  let back = 0;
  offer.away(() => (back += 1));
  const host = el.querySelector(".tfnb");
  expect(host?.classList.contains("is-away")).toBe(true);
  el.querySelector<HTMLButtonElement>(".tfnb-away button")?.click();
  expect(back).toBe(1);
  offer.away();
  expect(host?.classList.contains("is-away")).toBe(false);
  expect(el.querySelector(".tfnb-away")).toBeNull();
});

test("a statement is found where it is now", () => {
  const text = "import x\n\ny = f(\n    1)\nz = 2\nz = 2";
  expect(place(text, [3, 4, "y = f(", []])).toEqual([2, 3]);
  expect(place(`# new\n${text}`, [3, 4, "y = f(", []])).toEqual([3, 4]);
  expect(place(text, [6, 6, "z = 2", []])).toEqual([5, 5]);
  expect(place(text, [5, 5, "z = 3", []])).toBeUndefined();
});
