/** The numbers of one curve and what is drawn of them. No DOM here. */

export class Series {
  steps = new Float64Array(1024);
  values = new Float64Array(1024);
  length = 0;

  /** Points from index `start` on are these; what stood there or after is gone. False if points before are missing. */
  put(start: number, pairs: Float32Array): boolean {
    if (start > this.length) return false;
    const count = pairs.length >> 1;
    this.reserve(start + count);
    for (let i = 0; i < count; i++) {
      this.steps[start + i] = pairs[2 * i] as number;
      this.values[start + i] = pairs[2 * i + 1] as number;
    }
    this.length = start + count;
    return true;
  }

  private reserve(size: number): void {
    if (size <= this.steps.length) return;
    const room = Math.max(size, 2 * this.steps.length);
    const [steps, values] = [new Float64Array(room), new Float64Array(room)];
    steps.set(this.steps.subarray(0, this.length));
    values.set(this.values.subarray(0, this.length));
    [this.steps, this.values] = [steps, values];
  }
}

/** Float32 pairs out of a message's buffer, wherever it stands in memory. */
export function pairsOf(buffer: DataView | ArrayBuffer): Float32Array {
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

/** The index of the step nearest to `step`; steps ascend. -1 if there is none. */
export function nearest(series: Series, step: number): number {
  let [low, high] = [0, series.length - 1];
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((series.steps[middle] as number) < step) low = middle;
    else high = middle;
  }
  const [a, b] = [series.steps[low] as number, series.steps[high] as number];
  return Math.abs(step - a) <= Math.abs(b - step) ? low : high;
}

/** Round numbers (1, 2 or 5 times a power of ten apart) within [low, high], about `most` of them. */
export function ticks(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((candidate) => candidate >= rough * 0.75) ?? power;
  const found: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i++)
    found.push(i * step + 0); // never -0
  return found;
}

/** At most four significant digits: "0.01234", "1200", "20k", "3.2e-7". */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return value.toExponential(2).replace("e+", "e");
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(4))}k`;
  return String(Number(value.toPrecision(4)));
}
