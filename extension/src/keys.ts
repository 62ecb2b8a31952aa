/** The keyboard within a view: the notebook around it takes no key that our parts use, and a drawing keeps the focus. */

const OURS = /^(Arrow\w+|Enter| |Escape|Home|End|Page\w+)$/;
const TYPED = "input:not([type=range], [type=checkbox])";
const FOCUSABLE = "button, input, select, summary, [tabindex]";

/**
 * Keeps from the notebook, which has shortcuts on them, what is typed here and the keys that parts of views use; returns
 * how to stop. Notebook 7 listens before we do, but lets be what says so by an attribute.
 */
export function keepKeys(host: HTMLElement): () => void {
  const ours = (event: KeyboardEvent) =>
    !(event.ctrlKey || event.metaKey || event.altKey) &&
    ((event.target as Element).matches(TYPED) || (OURS.test(event.key) && !event.shiftKey));
  const before = (event: KeyboardEvent) => {
    const part = event.target as Element;
    if (host.contains(part)) part.toggleAttribute("data-lm-suppress-shortcuts", ours(event));
  };
  host.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || ours(event)) event.stopPropagation();
  });
  window.addEventListener("keydown", before, true);
  return () => window.removeEventListener("keydown", before, true);
}

/** Draw anew; if that replaces the part that has the focus, the one that is named as it was gets it. */
export function keepFocus(host: HTMLElement, draw: () => void): void {
  const had = document.activeElement;
  const name = had && host.contains(had) ? nameOf(had) : "";
  const alike = () =>
    [...host.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => nameOf(one) === name);
  const place = name ? alike().indexOf(had as HTMLElement) : -1;
  draw();
  if (place >= 0 && !host.contains(document.activeElement)) alike()[place]?.focus({ preventScroll: true });
}

function nameOf(part: Element): string {
  const said = part.getAttribute("data-name") || part.getAttribute("aria-label") || part.textContent;
  return `${part.nodeName} ${said}`;
}

const MOVES: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
const STRIDE = 1 / 32; // of the plot's size, that an arrow key moves

/** Lets the arrow keys move over a plot as the pointer does. */
export function pointByKeys(plot: SVGElement): void {
  let [x, y] = [0.5, 0.5];
  const inside = (share: number) => Math.min(1, Math.max(0, share));
  plot.setAttribute("tabindex", "0");
  plot.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    [x, y] = [inside(x + move[0] * STRIDE), inside(y + move[1] * STRIDE)];
    const box = plot.getBoundingClientRect();
    const at = { clientX: box.left + x * box.width, clientY: box.top + y * box.height };
    plot.dispatchEvent(new PointerEvent("pointermove", at));
  });
  plot.addEventListener("blur", () => plot.dispatchEvent(new PointerEvent("pointerleave")));
}
