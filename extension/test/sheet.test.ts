// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { nameOf } from "../src/heat";
import type { HeatPanel, SheetState, SheetTable } from "../src/model";
import { order } from "../src/sheet";
import { FakeModel, stage } from "./fake";

const { el, show } = stage();

const EVIL = '<img src=x onerror="window.evil=1">';
const TABLE: SheetTable = {
  id: "variables",
  title: "",
  note: "",
  columns: [
    { title: "name", tip: "", number: false },
    { title: "norm", tip: "", number: true },
  ],
  rows: [
    { id: "a", cells: [{ t: "a" }, { t: "2", v: 2, spark: [1, 3, 2] }] },
    { id: EVIL, cells: [{ t: EVIL }, {}] },
    {
      id: "c",
      cells: [
        { t: "c" },
        {
          t: "10",
          v: 10,
          hist: [
            [1, 2],
            [2, 1],
          ],
        },
      ],
    },
  ],
  sort: null,
  picked: "",
  pickable: true,
};

function panel(more: Partial<HeatPanel> = {}, first = 1): HeatPanel {
  const data = btoa(
    String.fromCharCode(...new Uint8Array(new Float32Array([first, -2, 0.5, Number.NaN]).buffer)),
  );
  const shape = { shape: [2, 2], start: [0, 0], block: [1, 1], tile: [1, 1] } as const;
  return {
    title: "m",
    note: "",
    rows: 2,
    cols: 2,
    form: "matrix",
    limit: 2,
    data,
    ...structuredClone(shape),
    ...more,
  } as HeatPanel;
}

test("values on one side of zero have a scale that begins there", () => {
  const scale = (side: number) => {
    sheet({ heat: { title: "v", panels: [panel({ side })], zoomed: false, first: true } });
    return [...el.querySelectorAll(".tfnb-scale")].at(-1)?.textContent;
  };
  expect([scale(0), scale(1), scale(-1)]).toEqual(["-22", "02", "-20"]);
});

function sheet(more: Partial<SheetState> = {}): FakeModel {
  const state = { title: "3 variables", note: "", buttons: [], tables: [TABLE], heat: null, ...more };
  return show(new FakeModel({ kind: "sheet", state }));
}

function names(): (string | null)[] {
  return [...el.querySelectorAll("tbody tr")].map((row) => row.querySelector("td")?.textContent ?? null);
}

test("a click on a head sorts, a second one turns it round, and the kernel is told", () => {
  const model = sheet();
  const head = () => el.querySelectorAll<HTMLElement>("th button")[1] as HTMLElement;
  head().click();
  expect(names()).toEqual(["c", "a", EVIL]);
  head().click();
  expect(names()).toEqual(["a", "c", EVIL]);
  expect(el.querySelectorAll("th")[1]?.getAttribute("aria-sort")).toBe("ascending");
  expect(model.sent.map((m) => m.descending)).toEqual([true, false]);
  expect(order(TABLE, null)).toBe(TABLE.rows);
});

test("a click on a row asks for it, names are text", () => {
  const model = sheet();
  (el.querySelectorAll("tbody tr")[1] as HTMLElement).click();
  el.querySelector<HTMLElement>("tbody button")?.click();
  expect(model.sent).toEqual([
    { type: "pick", table: "variables", row: EVIL },
    { type: "pick", table: "variables", row: "a" },
  ]);
  expect(el.querySelector("img")).toBeNull();
  expect(el.querySelectorAll(".tfnb-spark")).toHaveLength(2);
});

test("buttons send what they stand for", () => {
  const rows = [{ id: "r", cells: [{ t: "r" }, { acts: [["diff", "compare"]] as [string, string][] }] }];
  const model = sheet({ tables: [{ ...TABLE, rows }], buttons: [["session", "with the session"]] });
  for (const one of el.querySelectorAll<HTMLElement>(".tfnb-bar button, td.is-number button")) one.click();
  expect(model.sent).toContainEqual({ type: "act", act: "diff", row: "r" });
  expect(model.sent).toContainEqual({ type: "act", act: "session" });
});

test("what is pointed at stays so when the values move on", () => {
  const heat = (first: number) => ({ title: "w", panels: [panel({}, first)], zoomed: false, first: true });
  const model = sheet({ heat: heat(1) });
  const said = () => el.querySelector(".tfnb-heats output")?.textContent;
  el.querySelector("canvas")?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
  expect(said()).toBe("1");
  model.setState({ ...(model.get("state") as object), heat: heat(7) });
  expect(said()).toBe("7");
});

test("the arrow keys point at a cell in every linked panel", () => {
  const model = sheet({
    heat: { title: "w", panels: [panel(), panel({ title: "v" })], zoomed: false, first: true },
  });
  const canvas = el.querySelector("canvas") as HTMLCanvasElement;
  const key = (name: string) =>
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  key("ArrowRight");
  const said = () => [...el.querySelectorAll("output")].map((one) => one.textContent);
  expect(said()).toEqual(["-2", "-2"]);
  expect(el.querySelector(".tfnb-place")?.textContent).toBe("[0, 1]");
  key("ArrowDown");
  expect(said()).toEqual(["NaN", "NaN"]);
  key("Enter");
  key("Escape");
  expect(model.sent).toEqual([{ type: "zoom", panel: 0, row: 1, column: 1 }, { type: "whole" }]);
});

test("cells are named by the elements that they stand for", () => {
  expect(nameOf(panel({ start: [8, 0], block: [2, 3] }), 1, 1)).toBe("[10:12, 3:6]");
  expect(nameOf(panel({ form: "strip", cols: 96 }), 1, 4)).toBe("[100]");
  expect(nameOf(panel({ form: "tiles", tile: [3, 3], shape: [3, 3, 4, 8] }), 9, 6)).toBe("[1, 2, 2, 1]");
});

test("the arrow keys go over the gaps between tiles and stop at the end", () => {
  const data = btoa(String.fromCharCode(...new Uint8Array(new Float32Array([1, 3e38, 2]).buffer)));
  const tiles = {
    rows: 1,
    cols: 3,
    form: "tiles",
    shape: [1, 1, 1, 2],
    tile: [1, 1],
    data,
  } as Partial<HeatPanel>;
  sheet({ heat: { title: "w", panels: [panel(tiles)], zoomed: false, first: true } });
  const key = (name: string) =>
    el.querySelector("canvas")?.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  for (const [name, place] of [
    ["ArrowLeft", "[0, 0, 0, 0]"],
    ["ArrowRight", "[0, 0, 0, 1]"],
    ["ArrowRight", "[0, 0, 0, 1]"],
    ["ArrowLeft", "[0, 0, 0, 0]"],
  ] as [string, string][]) {
    key(name);
    expect(el.querySelector(".tfnb-place")?.textContent).toBe(`element ${place}`);
  }
});

test("the table of runs is filtered, its boxes ask, and the board below draws", async () => {
  const rows = [{ id: "r1", cells: [{ check: 0 }, { t: EVIL, edit: `New name of ${EVIL}` }] }];
  const table = { ...TABLE, id: "runs", pickable: false, rows };
  const state = { tables: [table], filter: "lenet", live: null };
  const model = sheet(state as unknown as Partial<SheetState>);
  const filter = el.querySelector<HTMLInputElement>("input[type=search]") as HTMLInputElement;
  expect([filter.hidden, filter.value]).toEqual([false, "lenet"]);
  filter.value = "loss<1";
  filter.dispatchEvent(new Event("input"));
  el.querySelector<HTMLInputElement>("td input[type=checkbox]")?.click();
  expect(model.sent).toEqual([
    { type: "filter", text: "loss<1" },
    { type: "act", act: "check", row: "r1" },
  ]);
  const live = { title: "", tags: [{ name: EVIL, color_index: 0 }], smoothing: 0, x: "step" };
  model.setState({ ...(model.get("state") as SheetState), live });
  expect(model.sent.at(-1)).toEqual({ type: "live", message: { type: "ready" } });
  model.points(0, 0, [0, 1, 1, 2]);
  await new Promise((go) => setTimeout(go, 50));
  expect(el.querySelectorAll(".tfnb-line")).toHaveLength(1);
  expect(el.querySelector("img")).toBeNull();
  model.setState({ ...(model.get("state") as SheetState), live: null });
  expect(el.querySelector(".tfnb-live")).toBeNull();
});

test("what is typed into a field stays when a new state comes, until it is sent", () => {
  const rows = [{ id: "r1", cells: [{ t: "sq:0" }, { edit: "New value of sq:0" }] }];
  const model = sheet({ tables: [{ ...TABLE, rows, pickable: false }] });
  const field = () => el.querySelector('input[aria-label="New value of sq:0"]') as HTMLInputElement;
  field().value = "value * 10";
  field().dispatchEvent(new Event("input"));
  model.setState({ ...(model.get("state") as SheetState), note: "" });
  expect(field().value).toBe("value * 10");
  field().dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  expect(model.sent).toEqual([{ type: "edit", table: "variables", row: "r1", text: "value * 10" }]);
  model.setState({ ...(model.get("state") as SheetState), note: "" });
  expect(field().value).toBe("");
});
