import assert from "node:assert/strict";
import test from "node:test";

import { findStep, keepCaptured, lastNumber, mergeSeries } from "../gradwatch_frontend/series.js";

const series = (steps, mean, extra = {}) => ({
  tensor: "loss", kind: "scalar", statistic: null, steps, min: mean, mean, max: mean, n_nonfinite: mean.map(() => 0),
  times: steps.map((step) => step / 10), state: mean.map((value) => (value === null ? "nan" : null)), downsampled_by: 1, ...extra,
});

test("newer points follow; the bucket that was still open is replaced", () => {
  const merged = mergeSeries(series([0, 4, 8], [1, 2, 3]), series([8, 12], [3.5, null]));
  assert.deepEqual(merged.steps, [0, 4, 8, 12]);
  assert.deepEqual(merged.mean, [1, 2, 3.5, null]);
  assert.deepEqual(merged.state, [null, null, null, "nan"]);
  assert.deepEqual(merged.times, [0, 0.4, 0.8, 1.2]);
});

test("nothing new changes nothing; what was merged is not changed in place", () => {
  const older = series([0, 1], [1, 2]);
  assert.equal(mergeSeries(older, series([], [])), older);
  mergeSeries(older, series([1, 2], [9, 9]));
  assert.deepEqual(older.mean, [1, 2]);
});

test("a rewind replaces everything after it", () => {
  assert.deepEqual(mergeSeries(series([0, 1, 2], [1, 2, 3]), series([0, 1], [7, 8])).steps, [0, 1]);
});

test("the point at or before a step", () => {
  assert.deepEqual([-1, 0, 3, 4, 100].map((step) => findStep([0, 4, 8], step)), [-1, 0, 0, 1, 2]);
  assert.equal(findStep([], 3), -1);
});

test("the last number", () => {
  assert.equal(lastNumber([1, 2, null]), 2);
  assert.equal(lastNumber([0, null]), 0);
  assert.equal(lastNumber([null]), null);
});

test("points at which nothing was captured are left out, those that were not finite break the line", () => {
  const captured = keepCaptured(series([0, 1, 2, 3, 4], [1, null, 0, null, 0], { n_nonfinite: [0, 0, 0, 7, 7], state: [] }));
  assert.deepEqual(captured.steps, [0, 2, 3, 4]);
  assert.deepEqual(captured.mean, [1, 0, null, null]);
  assert.deepEqual(captured.n_nonfinite, [0, 0, 7, 7]);
});
