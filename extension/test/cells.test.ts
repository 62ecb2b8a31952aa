// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import view from "../src/index";
import { FakeModel } from "./fake";

let stop: (() => void) | undefined;
afterEach(() => {
  stop?.();
  document.body.replaceChildren();
});

function page(): [FakeModel, HTMLButtonElement, HTMLButtonElement] {
  const model = new FakeModel({ kind: "cells", state: { token: "k1", ids: ["b", "c"], note: "" } });
  document.body.innerHTML =
    '<p><button data-tfnb-run="k1" hidden>Run</button></p><button data-tfnb-run="k2">Run</button>';
  stop = view.initialize({ model });
  const [ours, others] = document.querySelectorAll("button");
  return [model, ours as HTMLButtonElement, others as HTMLButtonElement];
}

test("the kernel runs the cells where nobody else does, and says what went wrong", () => {
  const [model, ours, others] = page();
  others.click();
  expect(model.sent).toEqual([]);
  ours.click();
  expect(model.sent).toEqual([
    { type: "do", name: "expect" },
    { type: "do", name: "run" },
  ]);
  expect(ours.disabled).toBe(true);
  model.setState({ token: "k1", ids: ["c"], note: "cell [3] failed: <b>" });
  expect(ours.disabled).toBe(false);
  expect(ours.parentElement?.querySelector("[role=status]")?.textContent).toContain("failed: <b>");
});

test("the extension of JupyterLab runs them where it is there, in order", () => {
  const [model, ours] = page();
  const asked: unknown[] = [];
  const answer = (event: Event) => {
    asked.push((event as CustomEvent).detail.ids, (event.target as Element).tagName);
    event.preventDefault();
  };
  document.addEventListener("tfnb:run-cells", answer);
  ours.click();
  document.removeEventListener("tfnb:run-cells", answer);
  expect(asked).toEqual([["b", "c"], "BUTTON"]);
  expect(model.sent).toEqual([{ type: "do", name: "expect" }]);
});

test("without a kernel the buttons are hidden, as they were", () => {
  const [model, ours] = page();
  const rules = () => [...document.head.querySelectorAll("style")].map((one) => one.textContent).join();
  expect(rules()).toContain('[data-tfnb-run="k1"]');
  stop?.();
  stop = undefined;
  expect(rules()).not.toContain("data-tfnb-run");
  ours.click();
  expect(model.sent).toEqual([]);
});
