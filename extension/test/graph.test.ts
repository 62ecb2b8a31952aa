// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import type { Details } from "../src/model";
import { FakeModel, graphState, SVG, stage } from "./fake";

const { el, show, hide } = stage();

function one(selector: string): HTMLElement {
  const found = el.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`nothing is ${selector} in ${el.innerHTML}`);
  return found;
}

function click(selector: string, type = "click"): void {
  one(selector).dispatchEvent(new MouseEvent(type, { bubbles: true }));
}

const DETAILS: Details = {
  name: "layer1/weights",
  key: "layer1/weights/",
  form: "variable",
  role: "variable",
  count: 4,
  expandable: true,
  inputs: [],
  outputs: [{ name: "layer1/MatMul", label: "64×32", control: false }],
  more: [0, 3],
  where: "cell [3], line 2: `w = tf.Variable(...)`",
  type: "VariableV2",
  tensors: [{ shape: "64×32", dtype: "float32_ref" }],
  attrs: [["container", "<img src=x onerror=alert(1)>"]],
};

test("draws the kernel's SVG with nodes that the keyboard reaches", () => {
  show(new FakeModel({ kind: "graph", state: graphState() }));
  expect(el.querySelectorAll("g.n")).toHaveLength(2);
  expect(one('[data-name="x"]').getAttribute("tabindex")).toBe("0");
});

test("the sign of a scope opens it, a click selects, a double click toggles", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  click(".fold rect");
  click(".ttl");
  click(".ttl", "dblclick");
  expect(model.sent).toEqual([
    { type: "expand", name: "layer1/" },
    { type: "select", name: "layer1/" },
    { type: "expand", name: "layer1/" },
  ]);
});

test("an open scope closes", () => {
  const svg = SVG.replace("n f-scope", "n is-open f-scope");
  const model = show(new FakeModel({ kind: "graph", state: graphState({ svg }) }));
  click(".fold rect");
  expect(model.sent).toEqual([{ type: "collapse", name: "layer1/" }]);
});

test("keys act on the focused node and on the view", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  const press = (key: string) =>
    one('[data-name="layer1/"]').dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const before = one("svg").getAttribute("viewBox");
  press("Enter");
  press(" ");
  press("+");
  expect(model.sent.map((message) => message.type)).toEqual(["expand", "select"]);
  expect(one("svg").getAttribute("viewBox")).not.toBe(before);
});

test("what stands for the nodes that do not fit asks for nothing", () => {
  const svg = SVG.replaceAll('data-name="layer1/"', 'data-name="..."').replaceAll(" data-open", " data-x");
  const model = show(new FakeModel({ kind: "graph", state: graphState({ svg }) }));
  for (const key of ["Enter", " "])
    one('[data-name="..."]').dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  click('[data-name="..."] .ttl');
  click('[data-name="..."] .ttl', "dblclick");
  expect(model.sent).toEqual([]);
});

test("a new state replaces the drawing and lights the selected node and its edges", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  model.setState(graphState({ selected: "x", note: "12 ops do not fit" }));
  expect(one('[data-name="x"]').classList.contains("is-picked")).toBe(true);
  expect(one('[data-name="layer1/"]').classList.contains("is-near")).toBe(true);
  expect(one(".edge").classList.contains("is-lit")).toBe(true);
  expect(one(".tfnb-note").textContent).toBe("12 ops do not fit");
});

test("details show as text only, and their links ask for the op", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState({ details: DETAILS }) }));
  const panel = one(".tfnb-details");
  expect(panel.hidden).toBe(false);
  expect(panel.textContent).toContain("cell [3], line 2");
  expect(panel.textContent).toContain("<img src=x onerror=alert(1)>");
  expect(panel.querySelector("img")).toBeNull();
  click(".tfnb-link");
  expect(model.sent).toEqual([{ type: "reveal", name: "layer1/MatMul" }]);
});

test("nothing that runs or loads survives in a drawing", () => {
  const svg = SVG.replace(
    '<g class="groups"></g>',
    '<script>1</script><a href="javascript:1"><rect onclick="1"/></a><rect onload="1"/>',
  );
  show(new FakeModel({ kind: "graph", state: graphState({ svg }) }));
  expect(el.querySelector("svg script, svg a, svg [onclick], svg [onload], svg [href]")).toBeNull();
});

test("search asks a moment after the last key and shows what was found", () => {
  vi.useFakeTimers();
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  const field = one("input[type=search]") as HTMLInputElement;
  field.focus();
  field.value = "mat";
  field.dispatchEvent(new Event("input"));
  expect(model.sent).toEqual([]);
  vi.advanceTimersByTime(300);
  expect(model.sent).toEqual([{ type: "search", name: "", text: "mat" }]);
  model.setState(
    graphState({ hits: [{ name: "layer1/MatMul", key: "layer1/MatMul", role: "op", what: "MatMul" }] }),
  );
  expect(one(".tfnb-hits").textContent).toContain("layer1/MatMul");
  vi.useRealTimers();
});

test("Enter goes to the first hit of what is typed, not of what was typed before", () => {
  vi.useFakeTimers();
  const hit = (name: string) => ({ hits: [{ name, key: name, role: "op", what: "Op" }] });
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  const field = one("input[type=search]") as HTMLInputElement;
  const press = () => field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  const type = (text: string) => {
    field.value = text;
    field.dispatchEvent(new Event("input"));
  };
  field.focus();
  type("lo");
  vi.advanceTimersByTime(300);
  model.setState(graphState(hit("lookup")));
  type("loss");
  press();
  expect(model.sent.map((one) => one.type)).toEqual(["search", "search"]);
  model.setState(graphState(hit("loss")));
  expect(model.sent.at(-1)).toEqual({ type: "reveal", name: "loss" });
  type("lo");
  vi.advanceTimersByTime(300);
  model.emit("msg:custom", { type: "heard" }, []); // the same hits: no other state
  press();
  expect(model.sent.at(-1)).toEqual({ type: "reveal", name: "loss" });
  expect(model.sent.filter((one) => one.type === "search").length).toBe(3);
  vi.useRealTimers();
});

test("a kernel that does not answer is told to the reader", () => {
  vi.useFakeTimers();
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  click(".fold rect");
  vi.advanceTimersByTime(1000);
  expect(one(".tfnb-note").textContent).toContain("waiting for the kernel");
  model.setState(graphState());
  vi.advanceTimersByTime(10_000);
  expect(one(".tfnb-note").textContent).toBe("");
  model.setState(graphState({ note: "cut" }));
  click(".fold rect");
  model.emit("msg:custom", { type: "heard" }, []);
  vi.advanceTimersByTime(10_000);
  expect(one(".tfnb-note").textContent).toBe("cut");
  vi.useRealTimers();
});

test("what the kernel failed at is told, until something else works", () => {
  vi.useFakeTimers();
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  click(".fold rect");
  model.emit("msg:custom", { type: "failed", message: "KeyError: '<b>bb'" }, []);
  vi.advanceTimersByTime(10_000);
  expect(one(".tfnb-note").textContent).toBe("");
  expect(one(".tfnb-alarm").textContent).toBe("The kernel could not do this. KeyError: '<b>bb'");
  model.setState(graphState());
  expect(document.querySelector(".tfnb-alarm")).toBeNull();
  vi.useRealTimers();
});

test("errors are shown in the view and told to Python", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  model.setState(graphState({ svg: "<p>no svg</p>" }));
  expect(one(".tfnb-error").textContent).toContain("no SVG");
  expect(model.sent.at(-1)).toMatchObject({ type: "error" });
});

test("an unknown kind of view says so", () => {
  const model = show(new FakeModel({ kind: "flame", state: {} }));
  expect(one(".tfnb-error").textContent).toContain('"flame"');
  expect(model.sent).toHaveLength(1);
});

test("a removed view listens no more", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  hide();
  expect([...model.listeners.values()].flat()).toEqual([]);
});

test("colours, traces and DOT are asked for; source and values are text", () => {
  const more = {
    source: [
      [1, "<b>w</b>", 0],
      [2, "y = x", 1],
    ] as [number, string, number][],
    values: [{ name: "w:0", text: "<i>float32</i>", image: "javascript:alert(1)" }],
  };
  const state = graphState({
    details: { ...DETAILS, ...more },
    colors: [
      ["structure", "what it is"],
      ["cell", "<b>cell</b>"],
    ],
    color: "cell",
    trace: ["x", "inputs"],
  });
  const model = show(new FakeModel({ kind: "graph", state }));
  const menu = one('[aria-label="Colours say"]') as HTMLSelectElement;
  expect(menu.value).toBe("cell");
  expect(el.querySelectorAll("b, i, img")).toHaveLength(0);
  expect(one(".tfnb-source .is-here").textContent).toBe("2  y = x");
  menu.value = "structure";
  menu.dispatchEvent(new Event("change"));
  for (const label of ["Trace outputs", "End trace", "DOT"])
    [...el.querySelectorAll("button")].find((b) => b.textContent === label)?.click();
  expect(model.sent).toEqual([
    { type: "color", name: "structure" },
    { type: "trace", name: "layer1/weights/", value: "outputs" },
    { type: "trace", name: "" },
    { type: "dot", name: "" },
  ]);
});

test("the level is chosen, and shown where the kernel knows of levels", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState({ level: "layers" }) }));
  const levels = one('[aria-label="Level"]') as HTMLSelectElement;
  expect([levels.hidden, levels.value]).toEqual([false, "layers"]);
  levels.value = "ops";
  levels.dispatchEvent(new Event("change"));
  expect(model.sent).toEqual([{ type: "level", name: "ops" }]);
  model.setState(graphState());
  expect(levels.hidden).toBe(true);
});

test("a drawing larger than its place begins legible, with a minimap that moves it", () => {
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  const svg = SVG.replace('width="300" height="200"', 'width="2400" height="1600"');
  show(new FakeModel({ kind: "graph", state: graphState({ svg }) }));
  const map = one(".tfnb-minimap");
  expect(map.hidden).toBe(false);
  expect(map.querySelectorAll(".s")).toHaveLength(2);
  const seen = () => one("svg.tfnb-graph").getAttribute("viewBox")?.split(" ").map(Number) ?? [];
  const [, , width] = seen();
  map.getBoundingClientRect = () => ({ left: 0, top: 0, width: 150, height: 100 }) as DOMRect;
  map.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, clientX: 75, clientY: 50 }));
  expect(width).toBe(600);
  expect(seen()).toEqual([900, 600, 600, 400]);
  vi.restoreAllMocks();
});

test("the minimap stands where it hides least, and what is shown by itself stays within the drawing", () => {
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  const svg = SVG.replace('width="300" height="200"', 'width="2400" height="1600"').replace(
    "(50 20)",
    "(560 330)",
  );
  const model = show(new FakeModel({ kind: "graph", state: graphState({ svg }) }));
  expect(one(".tfnb-minimap").dataset.corner).toBe("left");
  model.setState(graphState({ svg, selected: "layer1/" }));
  const [left, top] = one("svg.tfnb-graph").getAttribute("viewBox")?.split(" ").map(Number) ?? [];
  expect([left, top]).toEqual([0, 0]);
  vi.restoreAllMocks();
});

test("words that are seen on a button are in its accessible name", () => {
  show(new FakeModel({ kind: "graph", state: graphState() }));
  for (const made of el.querySelectorAll("button"))
    if (/[a-z]{2}/i.test(made.textContent ?? ""))
      expect(made.getAttribute("aria-label")?.toLowerCase()).toContain(made.textContent?.toLowerCase());
  const bare = [...el.querySelectorAll("button")].filter((made) => /:\s*$/.test(made.ariaLabel ?? ""));
  expect(bare.map((made) => made.textContent)).toEqual([]);
});
