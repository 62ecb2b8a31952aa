/** Making elements. Text always goes in as text: names and tags are untrusted. */

const SVG = "http://www.w3.org/2000/svg";

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined>;

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** An HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS(SVG, tag) as SVGElement, attributes, children);
}

/** A button with a tooltip, which is in its accessible name too, behind the words that are seen (WCAG 2.5.3). */
export function button(label: string, tip: string, act: () => void): HTMLButtonElement {
  const made = h("button", { type: "button", title: tip, "aria-label": spoken(label, tip) }, label);
  made.addEventListener("click", act);
  return made;
}

/** Labels of cells in a text -> their ids. */
export type CellIds = Record<string, string>;

const CELL = /(\[\d+\](?:,? line \d+)?)/;

/**
 * A text in which "[3] line 2" is a link to that cell, and what stands in backticks is code. tfnb's JupyterLab extension
 * answers `tfnb:go-to-cell` by scrolling there; elsewhere the address works, as far as the page knows it.
 */
export function linked(text: string, cells: CellIds = {}): (Node | string)[] {
  const parts = text.split("`");
  return parts.length % 2 // each backtick has its other one
    ? parts.flatMap((part, i) => (i % 2 ? h("code", {}, part) : links(part, cells)))
    : links(text, cells);
}

function links(text: string, cells: CellIds): (Node | string)[] {
  return text.split(CELL).map((part) => {
    const id = new Map(Object.entries(cells)).get(part.replace(/\].*/, "]"));
    if (!id || !CELL.test(part)) return part;
    const line = Number(/line (\d+)/.exec(part)?.[1] ?? 0);
    const link = h("a", { href: `#cell-id=${encodeURIComponent(id)}`, title: "go to the cell" }, part);
    link.addEventListener("click", (event) => {
      event.stopPropagation();
      const detail = { id, line };
      const asked = new CustomEvent("tfnb:go-to-cell", {
        bubbles: true,
        cancelable: true,
        composed: true,
        detail,
      });
      if (!link.dispatchEvent(asked)) event.preventDefault();
    });
    return link;
  });
}

function spoken(label: string, tip: string): string {
  const said = !/[a-z]{2}/i.test(label) || tip.toLowerCase().includes(label.toLowerCase());
  return said ? tip : tip ? `${label}: ${tip}` : label;
}

const ACTIVE = new Set(["script", "foreignobject", "iframe", "object", "embed", "a", "use"]);
const PICTURE = /^data:image\/png;base64,[\w+/=]+$/;

/**
 * The kernel's SVG as an element of this document. The kernel escapes all names; should it ever fail to, nothing that
 * runs or loads gets through here; images only if they are in it.
 */
export function parseSvg(text: string): SVGSVGElement {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") throw new Error("the drawing that came from the kernel is no SVG");
  for (const element of [...parsed.querySelectorAll("*")]) {
    if (ACTIVE.has(element.nodeName.toLowerCase())) element.remove();
    for (const { name, value } of [...element.attributes])
      if (/^on/i.test(name) || (/href/i.test(name) && !PICTURE.test(value))) element.removeAttribute(name);
  }
  return document.importNode(parsed, true) as unknown as SVGSVGElement;
}
