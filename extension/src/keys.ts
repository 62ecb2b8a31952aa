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
    event.target !== host &&
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

/**
 * Draw anew; if that takes away the part that has the focus, the one that is named as it was gets it, else one that is
 * where it was.
 */
export function keepFocus(host: HTMLElement, draw: () => void): void {
  const had = document.activeElement as HTMLElement | null;
  if (!had || !host.contains(had)) {
    draw();
    return;
  }
  const alike = () => parts(host).filter((one) => nameOf(one) === name);
  const name = nameOf(had);
  const place = alike().indexOf(had);
  const around: [Element, number][] = [];
  for (let box = had.parentElement; box && host.contains(box); box = box.parentElement)
    around.push([box, parts(box).indexOf(had)]);
  draw();
  const now = document.activeElement;
  if (now && now !== host && host.contains(now) && isShown(now)) return;
  (alike()[place] ?? nearest(host, around)).focus({ preventScroll: true });
}

function nearest(host: HTMLElement, around: [Element, number][]): HTMLElement {
  for (const [box, place] of around) {
    const there = host.contains(box) && isShown(box) ? parts(box) : [];
    if (there.length) return there[Math.max(0, Math.min(place, there.length - 1))] as HTMLElement;
  }
  host.tabIndex = -1; // until it loses the focus: a click beside the parts is no reason to take keys
  host.addEventListener("blur", () => host.removeAttribute("tabindex"), { once: true });
  return host;
}

/** What in it can have the focus. */
function parts(box: Element): HTMLElement[] {
  return [...box.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(isShown);
}

function isShown(part: Element): boolean {
  return !part.closest("[hidden], :disabled");
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
