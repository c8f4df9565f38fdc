import assert from "node:assert/strict";
import test from "node:test";

import {
  divideHeatmap, dropEmptyNorms, findEdges, findMedian, findSpans, holdLane, holdRow, mergeHeatmap, mergeNonfinite, orderByTrouble,
} from "../gradwatch_frontend/columns.js";

const heatmap = (tensors, steps, values, extra = {}) => ({
  kind: "gradient", statistic: "norm", tensors, steps, step_end: (steps.at(-1) ?? 0) + 1, values,
  n_nonfinite: values.map((row) => row.map(() => 0)), missing: values.map((row) => row.map(() => 0)), downsampled_by: 1, ...extra,
});

test("newer columns follow and replace the open one", () => {
  const merged = mergeHeatmap(heatmap(["a"], [0, 2], [[1, 2]]), heatmap(["a"], [2, 4], [[2.5, 3]], { step_end: 6 }));
  assert.deepEqual(merged.steps, [0, 2, 4]);
  assert.deepEqual(merged.values, [[1, 2.5, 3]]);
  assert.equal(merged.step_end, 6);
});

test("a tensor that appears later has blanks before, and each keeps its own row", () => {
  const merged = mergeHeatmap(heatmap(["a", "b"], [0, 1], [[1, 1], [2, 2]]), heatmap(["b", "new", "a"], [2], [[22], [33], [11]]));
  assert.deepEqual(merged.values, [[2, 2, 22], [null, null, 33], [1, 1, 11]]);
  assert.deepEqual(merged.n_nonfinite[1], [0, 0, 0]);
});

test("lanes are merged alike", () => {
  const lane = (steps, n) => ({ steps, step_end: steps.at(-1) + 1, gradient: n, weight: n, update: n, loss: n, downsampled_by: 1 });
  const merged = mergeNonfinite(lane([0, 1], [0, 0]), lane([1, 2], [5, 6]));
  assert.deepEqual(merged.gradient, [0, 5, 6]);
  assert.deepEqual(merged.steps, [0, 1, 2]);
});

test("a cell and a point of one step share a centre", () => {
  assert.deepEqual(findEdges({ steps: [0, 4, 10], step_end: 12 }), [-0.5, 3.5, 9.5, 11.5]);
  assert.deepEqual(findEdges({ steps: [7], step_end: 8 }), [6.5, 7.5]);
  assert.deepEqual(findEdges({ steps: [], step_end: 0 }), [-0.5]);
});

test("even columns stay even while the last one fills", () => {
  assert.deepEqual(findEdges({ steps: [0, 4, 8], step_end: 10 }), [-0.5, 3.5, 7.5, 11.5]);
});

test("order by trouble: the first NaN, then missing, then drift, then depth", () => {
  const calm = new Array(20).fill(1);
  const grown = [...new Array(18).fill(1), 100, 100];
  const block = heatmap(["calm", "grown", "missing", "late", "early", "calm too"], [...calm.keys()], [calm, grown, calm, calm, calm, calm]);
  block.missing[2] = calm.map(() => 1);
  block.n_nonfinite[3] = calm.map((_, i) => (i >= 9 ? 4 : 0));
  block.n_nonfinite[4] = calm.map((_, i) => (i === 2 ? 1 : 0));
  assert.deepEqual(orderByTrouble(block).map((row) => block.tensors[row]), ["early", "late", "missing", "grown", "calm", "calm too"]);
});

test("of those that break in one column, the one that had grown most leads", () => {
  const broken = (values) => [...values, null, null];
  const block = heatmap(["b", "a"], [0, 1, 2, 3, 4, 5], [broken([1, 1, 1, 1]), broken([1, 1, 1, 900])]);
  block.n_nonfinite = block.n_nonfinite.map(() => [0, 0, 0, 0, 8, 8]);
  assert.deepEqual(orderByTrouble(block), [1, 0]);
});

test("medians are without sign and without gaps", () => {
  assert.equal(findMedian([null, -3, 1, 2]), 2);
  assert.equal(findMedian([null]), null);
});

test("spans of cells", () => {
  const spans = findSpans([1, 1, 0, null, 1], (cell) => cell === 1);
  assert.deepEqual(spans, [[0, 2], [4, 5]]);
  assert.deepEqual(findSpans([], () => true), []);
});

test("a value is held until the next, not over NaN, not over missing, not before the first", () => {
  const block = heatmap(["a"], [0, 1, 2, 3, 4, 5, 6], [[null, 1, null, null, null, 2, null]]);
  assert.deepEqual(holdRow(block, 0).values, [null, 1, 1, 1, 1, 2, 2]);
  block.n_nonfinite[0] = [0, 0, 0, 5, 0, 0, 0];
  assert.deepEqual(holdRow(block, 0).values, [null, 1, 1, null, null, 2, 2]);
  block.missing[0] = [0, 0, 0, 0, 0, 0, 1];
  assert.deepEqual(holdRow(block, 0).values, [null, 1, 1, null, null, 2, null]);
});

test("what was NaN when last looked at stays so; without a row nothing is held", () => {
  const block = heatmap(["a"], [0, 1, 2, 3, 4], [[1, null, null, null, 2]], { kind: "activation" });
  block.n_nonfinite[0] = [0, null, 7, null, 0];
  const { values, isBad, isHeld } = holdRow(block, 0);
  assert.deepEqual(values, [1, 1, null, null, 2]);
  assert.deepEqual(isBad, [false, false, true, true, false]);
  assert.deepEqual(isHeld, [false, true, false, true, false]);
  const hole = { ...block, kind: "gradient", values: [[1, null, null, null, 2]], n_nonfinite: [[0, null, 0, 0, 0]] };
  assert.deepEqual(holdRow(hole, 0).values, [1, null, null, null, 2]);
});

test("a lane stays what it was when last captured, but not where there are no rows", () => {
  const lanes = { gradient: [0, 0, 8, 8, null, 8], weight: [0, null, 3, null, null, null], update: [], loss: [] };
  assert.deepEqual(holdLane(lanes, "weight"), [false, false, true, true, false, false]);
  assert.deepEqual(holdLane(lanes, "gradient"), [false, false, true, true, false, true]);
});

test("a share is the count over the elements of the same tensor and column", () => {
  const counts = heatmap(["a", "b"], [0, 8, 16], [[5, null, 2], [1, 1, 1]], { statistic: "n_zero" });
  const sizes = heatmap(["b", "a"], [8, 16], [[4, 0], [10, 8]], { statistic: "n_elements" });
  assert.deepEqual(divideHeatmap(counts, sizes, "zero_share").values, [[null, null, 0.25], [null, 0.25, null]]);
});

test("the norm 0 of a tensor without a finite element is no norm; a true zero stays", () => {
  const block = heatmap(["a"], [0, 1, 2], [[0, 0, 3]]);
  block.n_nonfinite = [[0, 8, 8]];
  assert.deepEqual(dropEmptyNorms(block).values, [[0, null, 3]]);
});
