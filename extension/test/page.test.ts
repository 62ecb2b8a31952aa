// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { PageGraph } from "../page/graph";
import { grown } from "../page/stretch";

const node = (key: string, x: number, y: number, more = "") =>
  `<g class="n" data-name="${key}" transform="translate(${x} ${y})" ${more}><rect class="s" x="-40" y="-20" width="80" height="40"/>${
    more ? '<g class="fold"><rect/></g>' : ""
  }<text class="ttl">${key}</text></g>`;
const edge = (from: string, to: string, d: string) =>
  `<g class="edge" data-from="${from}" data-to="${to}"><path class="e" d="${d}"/></g>`;
const svg = (width: number, height: number, layers: Record<string, string>) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect class="bg" width="9" height="9"/>
<g class="world">${["groups", "edges", "labels", "heads", "nodes"]
    .map((layer) => `<g class="${layer}">${layers[layer] ?? ""}</g>`)
    .join("")}</g><g class="legend"/></svg>`;

// a over s/ over b; c stands to the right of s/
const BASE = svg(260, 240, {
  edges: edge("a", "s/", "M60 40C60 60 60 80 60 100") + edge("s/", "b", "M60 140C60 160 60 180 60 200"),
  labels: '<text data-from="s/" data-to="b" x="70" y="170">4</text>',
  nodes: node("a", 60, 20) + node("s/", 60, 120, 'data-open="1"') + node("b", 60, 220) + node("c", 160, 120),
});
const frame = (key: string, w: number, h: number) => ({
  groups: `<g class="n is-open" data-name="${key}" transform="translate(${w / 2} ${h / 2})"><rect class="s" x="${-w / 2}" y="${-h / 2}" width="${w}" height="${h}"/></g>`,
  heads: `<g class="head is-open" data-name="${key}" transform="translate(${w / 2} ${h / 2})"><g class="fold"><rect/></g></g>`,
});
const INSIDES = {
  "s/": svg(200, 300, { ...frame("s/", 200, 300), nodes: node("s/in/", 100, 80, 'data-open="1"') }),
  "s/in/": svg(120, 90, { ...frame("s/in/", 120, 90), nodes: node("s/in/x", 60, 50, 'data-open="1"') }),
};

function shown(): PageGraph {
  const graph = new PageGraph(BASE, INSIDES);
  document.body.replaceChildren(graph.root);
  return graph;
}
const find = (key: string, layer = "nodes") =>
  [...document.querySelectorAll(`.${layer} > *`)].find((each) => each.getAttribute("data-name") === key);
const click = (key: string, layer = "nodes") =>
  find(key, layer)
    ?.querySelector("rect")
    ?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const where = (key: string, layer = "nodes") => find(key, layer)?.getAttribute("transform");

test("what grows moves what is beyond it, and keeps its middle", () => {
  const x = grown(10, 30, 4, 6);
  expect([0, 10, 20, 30, 50].map(x)).toEqual([0, 10, 24, 40, 60]);
});

test("a scope opens in its place, what is around it makes room", () => {
  shown();
  click("s/");
  expect(find("s/")).toBeUndefined();
  expect(find("s/", "heads")).toBeDefined();
  expect(where("s/", "groups")).toBe("translate(114 224)"); // 14 pixels from the left, 34 below a
  expect(where("a")).toBe("translate(114 20)");
  expect(where("b")).toBe("translate(114 428)");
  expect(where("c")).toBe("translate(268 224)"); // 14 pixels from the frame
  const ends = [...document.querySelectorAll(".edge .e")].map((path) => path.getAttribute("d"));
  expect(ends).toEqual(["M114 40C114 60 114 54 114 74", "M114 374C114 394 114 388 114 408"]);
  expect(document.querySelector(".labels text")?.getAttribute("transform")).toContain("translate(54");
  expect(document.querySelector("svg")?.getAttribute("height")).toBe("448");
});

test("scopes in it open, and close with it", () => {
  const { root } = shown();
  click("s/");
  click("s/in/");
  expect(find("s/in/x")).toBeDefined();
  click("s/in/", "heads");
  expect(find("s/in/x")).toBeUndefined();
  click("s/in/");
  click("s/", "heads");
  expect(root.querySelectorAll(".nodes > .n")).toHaveLength(4);
  expect(where("c")).toBe("translate(160 120)");
});

test("only what opens has a sign, a role and a key", () => {
  shown();
  click("s/");
  click("s/in/");
  expect(find("s/in/x")?.querySelector(".fold")).toBeNull();
  expect(find("s/in/x")?.getAttribute("role")).toBeNull();
  expect(find("s/in/", "heads")?.getAttribute("aria-expanded")).toBe("true");
  const key = new KeyboardEvent("keydown", { key: "Enter", bubbles: true });
  find("s/in/", "heads")?.dispatchEvent(key);
  expect(find("s/in/")?.getAttribute("aria-expanded")).toBe("false");
});
