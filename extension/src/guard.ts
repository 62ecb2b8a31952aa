/** Errors of the front end: shown where they happened and told to Python, never only in a console nobody opens. */
import { h } from "./dom";
import type { Model } from "./model";

export type Guard = <A extends unknown[]>(work: (...args: A) => void) => (...args: A) => void;

/** Wraps handlers: what they throw appears in `host` and goes to the kernel as {type: "error", message}. */
export function makeGuard(host: HTMLElement, model: Model): Guard {
  return (work) =>
    (...args) => {
      try {
        work(...args);
      } catch (problem) {
        report(host, model, problem);
      }
    };
}

export function report(host: HTMLElement, model: Model, problem: unknown): void {
  const message = problem instanceof Error ? `${problem.name}: ${problem.message}` : String(problem);
  const stack = problem instanceof Error && problem.stack ? problem.stack : "";
  complain(host, `This view failed in the browser. ${message}`);
  model.send({ type: "error", message: stack.includes(message) ? stack : `${message}\n${stack}` });
}

/** Show what went wrong above the view; "" takes it away. */
export function complain(host: HTMLElement, text: string): void {
  host.querySelector(".tfnb-alarm")?.remove();
  if (text) host.prepend(h("div", { class: "tfnb-error tfnb-alarm", role: "alert" }, text));
}
