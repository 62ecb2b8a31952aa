// @vitest-environment happy-dom
/** Keys and the focus within a view. */
import { expect, test } from "vitest";
import { FakeModel, graphState, stage } from "./fake";

const { el, show } = stage();
const node = (name: string) => el.querySelector(`[data-name="${name}"]`) as HTMLElement;

test("a new drawing keeps the focus on the node that had it", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  const before = node("layer1/");
  before.focus();
  const state = graphState();
  model.setState({ ...state, svg: state.svg.replace("layer1</text>", "layer1 </text>") });
  expect(node("layer1/")).not.toBe(before);
  expect(document.activeElement).toBe(node("layer1/"));
});

test("what takes the place of a part that is gone has the focus, or the view", () => {
  const acts = (...labels: string[]) => ({
    title: "t",
    note: "",
    heat: null,
    tables: [],
    buttons: labels.map((label) => [label, label]),
  });
  const model = show(new FakeModel({ kind: "sheet", state: acts("a", "b", "c") }));
  const named = (name: string) => [...el.querySelectorAll("button")].find((b) => b.textContent === name);
  named("b")?.focus();
  model.setState(acts("a", "d", "c"));
  expect(document.activeElement).toBe(named("d"));
  model.setState(acts("a"));
  expect(document.activeElement).toBe(named("a"));
  model.setState(acts());
  expect(document.activeElement).toBe(el.querySelector(".tfnb"));
});

test("what was found can be reached by keys, and the field has the focus when it is chosen", async () => {
  const found = { name: "x", key: "x", role: "op", what: "Neg" };
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  const field = el.querySelector("input[type=search]") as HTMLInputElement;
  field.focus();
  field.value = "x";
  model.setState(graphState({ hits: [found] }));
  const hit = el.querySelector(".tfnb-hits button") as HTMLElement;
  hit.focus();
  await new Promise((done) => setTimeout(done, 250));
  expect(hit.closest("[hidden]")).toBeNull();
  hit.click();
  expect(document.activeElement).toBe(field);
  expect(hit.closest("[hidden]")).not.toBeNull();
});

test("the notebook hears of shortcuts only, not of what is typed or of the keys of controls", () => {
  show(new FakeModel({ kind: "graph", state: graphState() }));
  const heard: string[] = [];
  el.addEventListener("keydown", (event) => heard.push(event.key));
  const press = (part: Element, key: string, more: KeyboardEventInit = {}) =>
    part.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  press(el.querySelector("input") as Element, "x");
  press(el.querySelector("select") as Element, "ArrowDown");
  expect(el.querySelector("select")?.hasAttribute("data-lm-suppress-shortcuts")).toBe(true);
  press(el.querySelector("select") as Element, "s", { ctrlKey: true });
  expect(el.querySelector("select")?.hasAttribute("data-lm-suppress-shortcuts")).toBe(false);
  press(node("x"), "Enter", { shiftKey: true });
  expect(heard).toEqual(["s", "Enter"]);
});
