// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { TrainState } from "../src/model";
import { FakeModel, stage } from "./fake";

const { el, show } = stage();

function panel(more: Partial<TrainState> = {}): FakeModel {
  const rest = { note: "", facts: ["step 50 of 200"], rate: null, error: null };
  const values: [string, string][] = [["loss", "0.5"]];
  const state = { title: "A", status: "running", done: 50, total: 200, values, ...rest, ...more };
  return show(new FakeModel({ kind: "train", state }));
}

function press(name: string): void {
  const found = [...el.querySelectorAll("button")].find((each) => each.textContent === name);
  if (!found || found.hidden) throw new Error(`no button ${name}`);
  found.click();
}

test("shows how far it is and sends what is pressed", () => {
  const model = panel();
  expect(el.querySelector(".tfnb-facts")?.textContent).toContain("step 50 of 200");
  expect(el.querySelector<HTMLElement>(".tfnb-progress div")?.style.width).toBe("25%");
  for (const name of ["Pause", "Step", "Stop"]) press(name);
  model.setState({ ...(model.get("state") as TrainState), status: "paused" });
  expect(el.querySelector('[aria-label="Resume the training"]')?.textContent).toBe("Resume");
  press("Resume");
  expect(model.sent.map((message) => message.type)).toEqual(["pause", "step", "stop", "resume"]);
});

test("has no buttons once it has ended, and shows the error as text", () => {
  panel({ status: "failed", error: { what: "ValueError: <img src=x>", where: "cell [3], line 2" } });
  expect(() => press("Stop")).toThrow();
  expect(el.querySelector(".tfnb-error")?.textContent).toContain("<img src=x>");
  expect(el.querySelector("img")).toBeNull();
});

test("the slider moves the rate by decades and shows what was asked until it is confirmed", () => {
  const model = panel({ rate: { name: "rate", value: 0.01 } });
  const [slider, number] = [...el.querySelectorAll("input")] as [HTMLInputElement, HTMLInputElement];
  expect([Number(slider.min), Number(slider.max)]).toEqual([-4, 0]);
  const marks = [...el.querySelectorAll(".tfnb-decades small")].map((one) => one.textContent);
  expect(marks).toEqual(["0.0001", "0.001", "0.01", "0.1", "1"]);
  slider.value = "-1";
  slider.dispatchEvent(new Event("input"));
  expect(model.sent).toEqual([{ type: "rate", value: 0.1 }]);
  expect(number.value).toBe("0.1");
  model.setState({ ...(model.get("state") as TrainState), done: 60 });
  expect(number.value).toBe("0.1");
  number.value = "soon";
  number.dispatchEvent(new Event("change"));
  expect(model.sent.length).toBe(1);
});

test("an empty field is no rate of 0, and what is no rate is taken back", () => {
  const model = panel({ rate: { name: "rate", value: 0.01 } });
  const [slider, number] = [...el.querySelectorAll("input")] as [HTMLInputElement, HTMLInputElement];
  for (const typed of ["", " ", "soon", "-1", "1e999"]) {
    number.focus();
    number.value = typed;
    number.dispatchEvent(new Event("change"));
    expect([typed, number.value]).toEqual([typed, "0.01"]);
  }
  expect(model.sent).toEqual([]);
  model.setState({ ...(model.get("state") as TrainState), rate: { name: "rate", value: 0 } });
  expect(slider.value).toBe(slider.min);
});
