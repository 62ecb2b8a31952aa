/** The numbers of one curve and what is drawn of them. No DOM here. */

export class Series {
  /** Steps, values, seconds. */
  private columns = [0, 1, 2].map(() => new Float64Array(1024)) as [Float64Array, Float64Array, Float64Array];
  length = 0;
  private detail: { low: number; high: number; series: Series } | undefined; // of what is zoomed to

  constructor(private readonly whole?: Series) {}

  get steps(): Float64Array {
    return this.columns[0].subarray(0, this.length);
  }

  get values(): Float64Array {
    return this.columns[1].subarray(0, this.length);
  }

  /** The last step. */
  get end(): number {
    return this.whole?.end ?? this.steps[this.length - 1] ?? 0;
  }

  /** What is drawn to the right: steps, for "time" seconds, for "share" the per cent of the last step. */
  along(x: string): Float64Array {
    if (x === "share") return this.steps.map((step) => (100 * step) / Math.max(this.end, 1e-9));
    return x === "time" ? this.columns[2].subarray(0, this.length) : this.steps;
  }

  /** Points from index `start` on are these; what stood there or after is gone. False if points before are missing. */
  put(start: number, points: Float32Array): boolean {
    if (start > this.length) return false;
    const count = Math.floor(points.length / 3);
    this.reserve(start + count);
    for (let i = 0; i < 3 * count; i++)
      (this.columns[i % 3] as Float64Array)[start + Math.floor(i / 3)] = points[i] as number;
    this.length = start + count;
    return true;
  }

  /** Take the points within a range of the x axis, finer than they are in the whole. */
  zoom([low, high]: [number, number], points: Float32Array): void {
    const series = new Series(this);
    series.put(0, points);
    this.detail = { low, high, series };
  }

  /** What is drawn of a range: finer points, where there are some. */
  within(range: [number, number] | undefined): Series {
    const { detail } = this;
    return range && detail && detail.low === range[0] && detail.high === range[1] ? detail.series : this;
  }

  private reserve(size: number): void {
    for (const [i, column] of this.columns.entries()) {
      if (size <= column.length) return;
      this.columns[i] = new Float64Array(Math.max(size, 2 * column.length));
      this.columns[i].set(column);
    }
  }
}

/** Float32 numbers out of a message's buffer, wherever it stands in memory. */
export function floatsOf(buffer: DataView | ArrayBuffer): Float32Array {
  const view = buffer instanceof ArrayBuffer ? new DataView(buffer) : buffer;
  const count = view.byteLength >> 2;
  const found = new Float32Array(count);
  for (let i = 0; i < count; i++) found[i] = view.getFloat32(4 * i, true);
  return found;
}

/** Running mean with weight `weight` in [0, 1) of what was before, as TensorBoard's: unbiased at the start, gaps kept. */
export function smooth(values: Float64Array, weight: number): Float64Array {
  const found = new Float64Array(values.length);
  let mean = 0;
  let mass = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (Number.isFinite(value)) {
      mean = weight * mean + (1 - weight) * value;
      mass = weight * mass + (1 - weight);
      found[i] = mean / mass;
    } else found[i] = Number.NaN;
  }
  return found;
}

/** Indices to draw so that every pixel column shows its least and greatest value; gaps (NaN) are kept. */
export function reduce(columns: Float64Array, values: Float64Array): number[] {
  const kept: number[] = [];
  let begin = 0;
  while (begin < values.length) {
    const column = Math.floor(columns[begin] as number);
    let [low, high, end] = [begin, begin, begin];
    let gap = -1;
    for (; end < values.length && Math.floor(columns[end] as number) === column; end++) {
      const value = values[end] as number;
      if (!Number.isFinite(value)) gap = end;
      else {
        if (!(value >= (values[low] as number))) low = end;
        if (!(value <= (values[high] as number))) high = end;
      }
    }
    const last = end - 1;
    kept.push(...[...new Set([begin, low, high, last, ...(gap >= 0 ? [gap] : [])])].sort((a, b) => a - b));
    begin = end;
  }
  return kept;
}

/** The index of the number nearest to `wanted`; they ascend. -1 if there is none. */
export function nearest(numbers: Float64Array, wanted: number): number {
  let [low, high] = [0, numbers.length - 1];
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < wanted) low = middle;
    else high = middle;
  }
  const [a, b] = [numbers[low] as number, numbers[high] as number];
  return Math.abs(wanted - a) <= Math.abs(b - wanted) ? low : high;
}

/** What seconds up to `most` are told in, and how many of them that is. */
export function unitOf(most: number): [string, number] {
  return most >= 7200 ? ["h", 3600] : most >= 180 ? ["min", 60] : ["s", 1];
}

/** Round numbers (1, 2 or 5 times a power of ten apart) within [low, high], about `most` of them. */
export function ticks(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((candidate) => candidate >= rough * 0.75) ?? power;
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  if (Math.abs(first) > 1e12) return [low]; // so near to each other that no number is between them
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step + 0); // never -0
}

/** At most four significant digits: "0.01234", "1200", "20k", "3.2e-7". */
export function shortNumber(exact: number): string {
  const value = Number(exact.toPrecision(4)); // 10 ** -4 is 0.00009999999999999999 once V8 has compiled its caller
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4))
    return Number(value.toPrecision(3)).toExponential().replace("e+", "e");
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(4))}k`;
  return String(value);
}

/** The last value, as a legend says it. */
export function last(series: Series): string {
  return series.length ? shortNumber(series.values[series.length - 1] as number) : "";
}

/** The least and the greatest value, as a legend says them. */
export function ends(series: Series): string {
  const good = series.values.filter(Number.isFinite);
  if (good.length < 2) return "";
  const least = good.reduce((a, b) => Math.min(a, b));
  return `min ${shortNumber(least)} · max ${shortNumber(good.reduce((a, b) => Math.max(a, b)))}`;
}

/** The line of a curve, with a part of its own after each gap. */
export function pathOf(
  columns: Float64Array,
  values: Float64Array,
  y: { at(value: number): number },
  log: boolean,
): string {
  let text = "";
  let pen = "M";
  for (const i of reduce(columns, values)) {
    const value = values[i] as number;
    if (!Number.isFinite(value) || (log && value <= 0)) {
      pen = "M";
      continue;
    }
    text += `${pen}${(columns[i] as number).toFixed(1)} ${y.at(value).toFixed(1)}`;
    pen = "L";
  }
  return text && !text.includes("L") ? `${text}h.1` : text;
}

/** Powers of ten within [low, high]. */
export function logTicks(low: number, high: number): number[] {
  const [a, b] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  if (b - a < 1) return ticks(low, high, 5).filter((tick) => tick > 0);
  const every = Math.ceil((b - a + 1) / 6);
  return Array.from({ length: b - a + 1 }, (_, i) => 10 ** (a + i)).filter((_, i) => i % every === 0);
}

/** The range of the x axis that shows all of some curves. */
export function reach(shown: Series[], x: string): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const series of shown) {
    const along = series.along(x);
    low = Math.min(low, along[0] as number);
    high = Math.max(high, along[along.length - 1] as number);
  }
  if (!(low <= high)) [low, high] = [0, 1];
  if (low > 0 && low < high / 50) low = 0; // the first point may have been thinned out
  return [low, low === high ? low + Math.max(1, Math.abs(low) * 1e-9) : high];
}
