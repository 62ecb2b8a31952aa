// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { FakeModel, stage } from "./fake";

const { el, show } = stage();

const EVIL = "<img src=x onerror=alert(1)>";

function board(): FakeModel {
  const one = [{ name: EVIL, color_index: 1 }];
  const state = { title: "", tags: [], ridges: one, pictures: one, smoothing: 0, x: "step" };
  return show(new FakeModel({ kind: "live", state }));
}

test("histograms become a row a step, the newest in front", () => {
  const model = board();
  const table = new DataView(new Float32Array([0, 1, 0, 0, 0.5, 1]).buffer);
  model.emit("msg:custom", { type: "ridge", ridge: 0, low: -1, high: 2, steps: [0, 10], top: 250 }, [table]);
  const rows = [...el.querySelectorAll(".tfnb-ridge")].map((row) => row.getAttribute("d") ?? "");
  expect(rows.length).toBe(2);
  const base = (d: string) => Number(d.split("L")[0]?.split(" ")[1]);
  expect(base(rows[1] as string)).toBeGreaterThan(base(rows[0] as string));
  expect(el.querySelector(".tfnb-plot")?.getAttribute("aria-label")).toContain("2 steps up to 10");
  const words = [...el.querySelectorAll(".tfnb-plot text")].map((text) => text.textContent);
  expect(words).toEqual(expect.arrayContaining(["250", "0", "5", "10"]));
});

test("pictures show the newest step, or the one that the reader chose", () => {
  const model = board();
  const file = () => new DataView(new Uint8Array([137, 80, 78, 71]).buffer);
  model.emit("msg:custom", { type: "pictures", picture: 0, steps: [0, 5] }, [file(), file()]);
  const image = el.querySelector(".tfnb-picture img") as HTMLImageElement;
  const slider = el.querySelector(".tfnb-picture input") as HTMLInputElement;
  expect(image.alt).toContain("at step 5");
  slider.value = "0";
  slider.dispatchEvent(new Event("input"));
  expect(image.alt).toContain("at step 0");
  model.emit("msg:custom", { type: "pictures", picture: 0, steps: [0, 5, 9] }, [file(), file(), file()]);
  expect(image.alt).toContain("at step 0");
  expect(el.querySelectorAll("img").length).toBe(1);
});

test("what was cleared is gone, and what comes then has its own panel", () => {
  const model = board();
  const panels = () => [...el.querySelectorAll("figcaption")].map((one) => one.textContent);
  const table = new DataView(new Float32Array([0, 1]).buffer);
  model.emit("msg:custom", { type: "ridge", ridge: 0, low: -1, high: 2, steps: [0] }, [table]);
  model.emit("msg:custom", { type: "reset" }, []);
  expect(el.querySelectorAll(".tfnb-ridge")).toHaveLength(0);
  const state = (...names: string[]) => ({
    title: "",
    tags: [],
    ridges: names.map((name) => ({ name, color_index: 0 })),
    smoothing: 0,
    x: "step",
  });
  model.setState(state());
  expect(panels()).toEqual([]);
  model.setState(state("other"));
  model.setState(state("first", "other"));
  expect(panels()).toEqual(["first", "other"]);
});
