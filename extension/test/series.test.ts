import { expect, test } from "vitest";
import { floatsOf, nearest, reduce, Series, shortNumber, smooth, ticks } from "../src/series";

test("series grow, overwrite and refuse gaps", () => {
  const series = new Series();
  expect(series.put(0, new Float32Array(Array.from({ length: 9000 }, (_, i) => i)))).toBe(true);
  expect([series.length, series.steps[2999], series.values[2999]]).toEqual([3000, 8997, 8998]);
  expect(series.put(3001, new Float32Array([1, 1, 1]))).toBe(false);
  expect(series.put(10, new Float32Array([7, 8, 9]))).toBe(true);
  expect([series.length, series.values[10], series.along("time")[10]]).toEqual([11, 8, 9]);
});

test("numbers are read little-endian from the middle of a buffer", () => {
  const buffer = new ArrayBuffer(12);
  new DataView(buffer).setFloat32(4, 1.5, true);
  expect([...floatsOf(new DataView(buffer, 4, 8))]).toEqual([1.5, 0]);
});

test("smoothing is unbiased at the start and steps over gaps", () => {
  const found = smooth(Float64Array.from([4, Number.NaN, 4, 8]), 0.5);
  expect(found[0]).toBeCloseTo(4);
  expect(found[1]).toBeNaN();
  expect(found[2]).toBeCloseTo(4);
  expect(found[3]).toBeCloseTo((0.125 * 4 + 0.25 * 4 + 0.5 * 8) / 0.875);
  expect([...smooth(Float64Array.from([1, 2]), 0)]).toEqual([1, 2]);
});

test("reducing keeps each column's least and greatest value and its gaps", () => {
  const columns = Float64Array.from({ length: 1000 }, (_, i) => i / 100);
  const values = Float64Array.from({ length: 1000 }, (_, i) => (i === 555 ? 99 : i === 777 ? -99 : i % 7));
  const kept = reduce(columns, values);
  expect(kept.length).toBeLessThan(60);
  expect(kept).toContain(555);
  expect(kept).toContain(777);
  expect(kept).toEqual([...kept].sort((a, b) => a - b));
  values[300] = Number.NaN;
  expect(reduce(columns, values)).toContain(300);
});

test("nearest finds the step, also at the ends", () => {
  const series = new Series();
  series.put(0, new Float32Array([0, 1, 3, 10, 1, 4, 20, 1, 7]));
  expect([-5, 4, 6, 14, 16, 99].map((step) => nearest(series.steps, step))).toEqual([0, 0, 1, 1, 2, 2]);
  expect([3.4, 3.6, 6].map((seconds) => nearest(series.along("time"), seconds))).toEqual([0, 1, 2]);
  expect(nearest(new Series().steps, 1)).toBe(-1);
});

test("there are few ticks, however near the ends are to each other", () => {
  const next = 0.1 + 2 ** -56;
  expect(ticks(0.1, next, 5)).toEqual([0.1]);
  expect(ticks(1e17, 1e17 + 16, 5)).toEqual([1e17]);
  expect(ticks(-1e17 - 16, -1e17, 5)).toEqual([-1e17 - 16]);
  expect(ticks(1e9, 1e9 + 4, 5)).toEqual([1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4]);
});

test("ticks are round and numbers short", () => {
  expect(ticks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1].map((tick) => expect.closeTo(tick)));
  expect(ticks(-3, 97, 6)).toEqual([0, 20, 40, 60, 80]);
  expect(shortNumber(0.00009999999999999999)).toBe("0.0001");
  expect([0, 0.012345, 1200, 20_000, 3.2e-7, Number.NaN].map(shortNumber)).toEqual([
    "0",
    "0.01235",
    "1200",
    "20k",
    "3.2e-7",
    "NaN",
  ]);
});
