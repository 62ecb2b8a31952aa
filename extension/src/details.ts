/** The panel beside the drawing: all that is known of the selected node. */
import { button, h, linked } from "./dom";
import type { Details, Link } from "./model";

interface DetailActions {
  reveal(name: string): void;
  toggle(key: string, open: boolean): void;
  aside(key: string, value: boolean): void;
  trace(key: string, direction: string): void;
  enlarge(tensor: string): void;
  close(): void;
}

const WORDS: Record<string, string> = {
  input: "input",
  variable: "variable",
  const: "constant",
  scope: "scope",
  gradient: "gradients",
  optimizer: "optimizer",
  summary: "summary",
  save: "saver",
  control: "order only",
};

/** The panel's content. `open` and `isAside` say which buttons make sense. */
export function detailsPanel(
  found: Details,
  open: boolean,
  isAside: boolean,
  act: DetailActions,
): HTMLElement {
  const short = found.name.split("/").pop() ?? found.name;
  const close = button("×", "Close the details", () => act.close());
  close.className = "tfnb-close";
  const kind = found.type ?? WORDS[found.role] ?? found.form;
  return h(
    "div",
    { class: "tfnb-details-body" },
    h("header", {}, h("h3", {}, short), close),
    found.name !== short && h("code", { class: "tfnb-path" }, found.name),
    h(
      "p",
      { class: "tfnb-kind" },
      h("span", { class: `tfnb-chip tfnb-c-${found.role}` }, kind),
      found.count > 1 && ` ${found.count} ops`,
    ),
    found.names?.length
      ? h("p", {}, "in Python ", h("code", { class: "tfnb-py" }, found.names.join(", ")))
      : null,
    found.doc ? h("p", { class: "tfnb-doc" }, found.doc) : null,
    h(
      "p",
      { class: "tfnb-acts" },
      found.expandable && button(open ? "Close scope" : "Open scope", "", () => act.toggle(found.key, !open)),
      button("Trace inputs", "Leave strong only what it gets values from", () =>
        act.trace(found.key, "inputs"),
      ),
      button("Trace outputs", "Leave strong only what it gives values to", () =>
        act.trace(found.key, "outputs"),
      ),
      button(isAside ? "Put back" : "Set aside", "", () => act.aside(found.key, !isAside)),
    ),
    found.where
      ? section(
          "Made by",
          h("div", { class: "tfnb-where" }, ...linked(found.where, found.cells)),
          source(found),
        )
      : null,
    found.change ? section("Last run of its cell", found.change) : null,
    values(found, act),
    tensors(found),
    links("Reads", found.inputs, found.more[0], act),
    links("Feeds", found.outputs, found.more[1], act),
    table("Attributes", found.attrs ?? []),
    table(
      "Op types inside",
      (found.types ?? []).map(([type, count]) => [type, String(count)]),
    ),
    found.device ? section("Device", h("code", {}, found.device)) : null,
  );
}

function section(title: string, ...content: (Node | string)[]): HTMLElement {
  return h("section", {}, h("h4", {}, title), ...content);
}

function source(found: Details): HTMLElement {
  const lines = (found.source ?? []).map(([n, text, here]) =>
    h("code", here ? { class: "is-here" } : {}, `${n}  ${text}`),
  );
  return h(
    "details",
    { hidden: lines.length < 2, class: "tfnb-source" },
    h("summary", {}, "Source"),
    ...lines,
  );
}

function values(found: Details, act: DetailActions): HTMLElement | null {
  const shown = (found.values ?? []).map(({ name, tensor, text, image }) => {
    const picture = /^data:image\/png;base64,[\w+/=]+$/.test(image);
    const large = button("Enlarge", `Draw ${name} large, with its values`, () => act.enlarge(tensor ?? name));
    if (picture) large.prepend(h("img", { src: image, alt: `${name} as images` }));
    return h(
      "p",
      { class: "tfnb-value" },
      h("code", {}, (found.values ?? []).length > 1 ? `${name} ${text}` : text),
      tensor && large,
    );
  });
  return shown.length ? section("Last value", ...shown) : null;
}

function tensors(found: Details): HTMLElement | null {
  const rows = (found.tensors ?? []).map((tensor, i) => [`:${i}`, `${tensor.dtype} ${tensor.shape}`.trim()]);
  return table(rows.length > 1 ? "Outputs" : "Output", rows as [string, string][]);
}

function table(title: string, rows: [string, string][]): HTMLElement | null {
  if (!rows.length) return null;
  const made = rows.map(([key, value]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, value)));
  return section(title, h("table", {}, h("tbody", {}, ...made)));
}

function links(title: string, items: Link[], more: number, act: DetailActions): HTMLElement | null {
  if (!items.length) return null;
  const rows = items.map((item) => {
    const go = button(item.name, `Show ${item.name}`, () => act.reveal(item.name));
    go.className = "tfnb-link";
    return h("li", item.control ? { class: "is-control" } : {}, go, h("small", {}, ` ${item.label}`));
  });
  if (more) rows.push(h("li", {}, `and ${more} more`));
  return section(title, h("ul", {}, ...rows));
}
