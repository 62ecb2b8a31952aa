/** Drags and wheels over a drawing. */

/** Follow the pointer from a press to its release, wherever it goes. */
export function drag(move: (event: PointerEvent) => void, released = () => {}): void {
  const stop = () => {
    window.removeEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) window.removeEventListener(name, stop);
    released();
  };
  window.addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, stop);
}

/**
 * How much a turn of the wheel enlarges; undefined where it is the notebook's: a plain wheel scrolls it, unless the
 * reader works in the drawing (clicked into it).
 */
export function wheelZoom(event: WheelEvent, drawing: Element): number | undefined {
  if (!(event.ctrlKey || event.metaKey || drawing.contains(document.activeElement))) return undefined;
  event.preventDefault();
  return Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002));
}
