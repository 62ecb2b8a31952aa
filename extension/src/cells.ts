/**
 * The buttons "Run 3 stale cells" under cells. The lines that they are in are plain HTML, which any page shows; while
 * there is a kernel this module shows the buttons, and hears them. tfnb's JupyterLab extension (../lab) runs the cells
 * themselves, with what was typed since; where nobody answers the event, the kernel runs the texts that ran last.
 */
import { h } from "./dom";
import { watchKernel } from "./kernel";
import type { Model } from "./model";

interface CellsState {
  token: string; // of the kernel's buttons
  ids: string[]; // of the cells that must run again, in order
  note: string; // what came of it
}

/** Show and hear the buttons of a kernel. Returns how to stop. */
export function hearButtons(model: Model): () => void {
  const host = h("div");
  const [watched, unwatch] = watchKernel(model, host);
  const state = () => watched.get("state") as CellsState;
  const sheet = h("style");
  sheet.textContent = `[data-tfnb-run="${CSS.escape(state().token)}"]{display:inline-block}`;
  document.head.append(sheet);
  let pressed: HTMLButtonElement | undefined;
  const press = (event: Event) => {
    const part = (event.target as Element).closest?.("[data-tfnb-run]");
    if (!(part instanceof HTMLButtonElement) || part.dataset.tfnbRun !== state().token) return;
    watched.send({ type: "do", name: "expect" });
    const run = new CustomEvent("tfnb:run-cells", {
      bubbles: true,
      cancelable: true,
      detail: { ids: state().ids },
    });
    if (part.dispatchEvent(run)) watched.send({ type: "do", name: "run" });
    if (host.classList.contains("is-ended")) sheet.remove();
    part.disabled = true; // until there is another line in its place, or the kernel says what went wrong
    pressed = part;
  };
  const told = () => {
    if (!pressed || !state().note) return;
    pressed.disabled = false;
    const note = h("span", { class: "tfnb-note", role: "status" }, ` ${state().note}`);
    pressed.parentElement?.querySelector(".tfnb-note")?.remove();
    pressed.after(note);
  };
  document.addEventListener("click", press);
  watched.on("change:state", told);
  return () => {
    document.removeEventListener("click", press);
    watched.off("change:state", told);
    unwatch();
    sheet.remove();
  };
}
