/** What the kernel and the browser say to each other; the Python side is tfnb/notebook/graph/view.py and board.py. */

import type { CellIds } from "./dom";

/** The part of anywidget's model that is used here. */
export interface Model {
  get(key: string): unknown;
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback?: (...args: never[]) => void): void;
  send(content: unknown): void;
}

/** A view: an element that shows the model's state, and may take messages with bytes in them. */
export interface View {
  readonly root: HTMLElement;
  update(): void;
  resize?(): void;
  dispose?(): void;
  /** True if the kernel need not know when it listens. */
  readonly quiet?: boolean;
  receive?(message: { type: string }, buffers: DataView[]): void;
  /** Mark what a line of code made, by key. */
  light?(keys: ReadonlySet<string>): void;
}

export interface Link {
  name: string;
  label: string;
  control: boolean;
}

export interface Details {
  name: string;
  names?: string[]; // in Python
  key: string;
  form: string;
  role: string;
  count: number;
  expandable: boolean;
  inputs: Link[];
  outputs: Link[];
  more: [number, number];
  where: string;
  cells?: CellIds;
  type?: string;
  doc?: string;
  change?: string;
  device?: string;
  tensors?: { shape: string; dtype: string }[];
  attrs?: [string, string][];
  types?: [string, number][];
  source?: [number, string, number][];
  values?: { name: string; tensor?: string; text: string; image: string }[];
}

export interface Hit {
  name: string;
  key: string;
  role: string;
  what: string;
}

export interface GraphState {
  title: string;
  svg: string;
  expanded: string[];
  selected: string;
  room?: number; // pixels that the drawing was made for
  aside: Record<string, boolean>;
  details: Details | null;
  hits: Hit[];
  note: string;
  color?: string;
  colors?: [string, string][];
  level?: string;
  trace?: [string, string] | null;
  enlarged?: HeatState | null;
}

/** Lessons below a cell: code in `text` stands in backticks; `href` of the tutorial may be "". */
export interface LessonState {
  lessons: { text: string; cells?: CellIds; code: string; runs: boolean; read: string; href: string }[];
  note: string;
}

/** What %tfnb shows; a line has the label and the name of its button, or "". */
export interface StartState {
  lines: [text: string, label: string, name: string][];
  cells?: CellIds;
  groups: [title: string, magics: [magic: string, what: string][]][];
  note: string;
  sheet?: SheetState | null;
}

export interface LiveTag {
  name: string;
  color_index: number;
  group?: string;
  share?: string; // panels of the same have one scale
}

/** Something that happened to a run, and the colour of that, -1 where there is one run. */
export type Mark = [step: number, seconds: number, kind: string, text: string, color: number];

export interface LiveState {
  title: string;
  tags: LiveTag[];
  marks?: Mark[];
  others?: { name: string; group: string }[]; // curves of earlier runs
  others_shown?: boolean; // undefined: there are none
  ridges?: LiveTag[];
  pictures?: LiveTag[];
  smoothing: number;
  x: string;
  grid?: number; // panels side by side
  empty?: string;
}

export type LiveMessage =
  | { type: "reset" }
  | { type: "points"; tag: number; start: number }
  | { type: "detail"; tag: number; range: [number, number] }
  | { type: "ridge"; ridge: number; low: number; high: number; steps: number[]; top: number }
  | { type: "pictures"; picture: number; steps: number[] };

/** Tables and heat maps; the Python side is tfnb/notebook/state/tables.py and heat.py, which say what each field means. */
export interface SheetCell {
  t?: string;
  cells?: CellIds;
  v?: number | string;
  spark?: number[];
  hist?: number[][];
  acts?: [act: string, label: string, tip?: string][];
  bad?: boolean;
  edit?: string;
  swatch?: number;
  check?: number; // a box: ticked or not
}

export interface SheetTable {
  id: string;
  title: string;
  note: string;
  columns: { title: string; tip: string; number: boolean }[];
  rows: { id: string; cells: SheetCell[] }[];
  sort: [number, boolean] | null;
  picked: string;
  pickable: boolean;
}

export interface HeatPanel {
  title: string;
  note: string;
  rows: number;
  cols: number;
  form: "matrix" | "strip" | "tiles";
  limit: number;
  side?: number; // of zero, the only one that has values
  shape: number[];
  start: [number, number];
  block: [number, number];
  tile: [number, number];
  data: string;
}

export interface SliderState {
  name: string;
  label: string;
  value: number;
  most: number;
  words: string;
  options: string[];
  play: boolean;
}

/** Heat maps; what is enlarged (tfnb/notebook/debug/enlarged.py) has sliders and figures, and pixels for each picture. */
export interface HeatState {
  title: string;
  panels: HeatPanel[];
  zoomed: boolean;
  first: boolean;
  room?: number;
  facts?: string;
  sliders?: SliderState[];
  again?: boolean;
  close?: boolean;
}

export interface SheetState {
  title: string;
  note: string;
  cells?: CellIds; // that the note names
  buttons: [string, string][];
  tables: SheetTable[];
  heat: HeatState | null;
  graph?: GraphState | null;
  timeline?: TimelineState;
  filter?: string; // undefined: nothing to narrow
  live?: LiveState | null;
}

export interface TrainState {
  title: string;
  status: "running" | "paused" | "done" | "stopped" | "failed";
  note: string;
  done: number;
  total: number | null;
  facts: string[];
  rate: { name: string; value: number } | null;
  values: [string, string][];
  error: { what: string; where: string } | null;
}

/** The Python side, tfnb/notebook/debug/timeline_view.py, says what each field means; times are nanoseconds. */
export interface TimelineState {
  end: number;
  by: string;
  ways: string[];
  lanes: string[];
  kinds: string[][];
  lit: number;
  bars: [
    start: number,
    length: number,
    lane: number,
    color: number,
    kind: number,
    group: number,
    live: number,
  ][];
}
