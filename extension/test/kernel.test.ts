// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { FakeModel, graphState, stage } from "./fake";

const { el, show, hide } = stage();

class Managed extends FakeModel {
  slots = new Set<(sender: unknown, status: string) => void>();
  widget_manager = {
    kernel: {
      statusChanged: {
        connect: (slot: (sender: unknown, status: string) => void) => this.slots.add(slot),
        disconnect: (slot: (sender: unknown, status: string) => void) => this.slots.delete(slot),
      },
    },
  };

  status(name: string): void {
    for (const slot of this.slots) slot(this, name);
  }
}

const host = () => el.querySelector<HTMLElement>(".tfnb");

test("a view is grey and says so when its kernel has ended, and sends no more", () => {
  const model = new Managed({ kind: "graph", state: graphState() });
  show(model);
  model.status("busy");
  expect(host()?.classList.contains("is-ended")).toBe(false);
  model.status("restarting");
  model.status("dead");
  expect(host()?.classList.contains("is-ended")).toBe(true);
  expect(el.querySelectorAll("[role=alert]")).toHaveLength(1);
  expect(el.querySelector("[role=alert]")?.textContent).toContain("kernel of this view has ended");
  el.querySelector(".fold rect")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(model.sent).toEqual([]);
  hide();
  expect(model.slots.size).toBe(0);
});

test("a message that cannot be sent is the end of the view, not an error of the page", () => {
  const model = show(new FakeModel({ kind: "graph", state: graphState() }));
  model.send = () => {
    throw new Error("Cannot send");
  };
  el.querySelector(".fold rect")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(host()?.classList.contains("is-ended")).toBe(true);
  expect(el.textContent).not.toContain("failed in the browser");
});
