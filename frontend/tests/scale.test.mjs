import assert from "node:assert/strict";
import test from "node:test";

import {
  OWN_SCALE, SHARE_SCALE, chooseLabels, chooseLogTicks, chooseScale, colorRow, makeSymmetricAxis, moveBorder,
} from "../gradwatch_frontend/charts/scale.js";

const heatmap = (values) => ({ values });

test("what is usual anywhere is cool, what lies far above is warm", () => {
  const calm = [new Array(100).fill(0.01), new Array(100).fill(0.3)];
  const sick = [new Array(100).fill(0.01), [...new Array(95).fill(0.3), 5, 20, 80, 300, 900]];
  for (const values of [calm, sick]) {
    const scale = chooseScale(heatmap(values));
    const at = (value) => (Math.log10(value) - scale.low) / (scale.high - scale.low);
    assert.ok(at(0.3) < scale.calm, "usual values are cool");
    assert.ok(at(5) > scale.calm, "values far above are warm");
    assert.ok(scale.ticks.length >= 2 && scale.ticks.length <= 7);
  }
});

test("a run that explodes to 1e30 leaves colours for the rest, and one without numbers has a scale too", () => {
  const scale = chooseScale(heatmap([[...new Array(50).fill(0.1), 1e10, 1e30]]));
  assert.ok(scale.high - scale.low <= 7);
  assert.ok(scale.high < 5);
  assert.deepEqual(colorRow([1e30], scale), [scale.high]);
  assert.ok(chooseScale(heatmap([[null, 0]])).ticks.length > 0);
});

test("colours: logarithms of sizes, exact zeros at the calm end, gaps stay gaps", () => {
  const scale = { ...chooseScale(heatmap([[0.001, 10]])), low: -3, high: 1 };
  assert.deepEqual(colorRow([0.1, -0.1, 0, null], scale), [-1, -1, -3, null]);
  assert.deepEqual(colorRow([2, 2, 200, null], OWN_SCALE), [0, 0, 2, null]);
  assert.deepEqual(colorRow([null, null], OWN_SCALE), [null, null]);
  assert.deepEqual(colorRow([0.5, null], SHARE_SCALE), [0.5, null]);
});

test("the border between cool and warm moves, the ends stay", () => {
  const moved = moveBorder([[0, "a"], [0.72, "b"], [0.86, "c"], [1, "d"]], 0.72, 0.5);
  assert.deepEqual(moved.map(([at, color]) => [Number(at.toFixed(6)), color]), [[0, "a"], [0.5, "b"], [0.75, "c"], [1, "d"]]);
  assert.deepEqual(moveBorder([[0, "a"]], 0.72, null), [[0, "a"]]);
});

test("500 rows in 600 pixels: names do not overlap, the picked one is among them", () => {
  const rowPx = 600 / 500;
  const labels = chooseLabels(0, 500, rowPx, 12, 123);
  assert.ok(labels.includes(123));
  assert.ok(labels.length > 35);
  labels.forEach((row, i) => assert.ok(i === 0 || (row - labels[i - 1]) * rowPx >= 12 - 1e-9, `${labels[i - 1]} and ${row}`));
});

test("few rows are all named; a zoomed part names its own", () => {
  assert.deepEqual(chooseLabels(0, 4, 13, 12, null), [0, 1, 2, 3]);
  assert.deepEqual(chooseLabels(10, 13, 40, 12, 99), [10, 11, 12]);
});

test("logarithmic ticks: decades over a wide range, 1, 2 and 5 over a narrow one, never crowded", () => {
  assert.deepEqual(chooseLogTicks([1e-4, 1e4])?.ticktext, ["1e-4", "0.1", "100"]);
  assert.deepEqual(chooseLogTicks([0.004, 0.03])?.ticktext, ["0.005", "0.01", "0.02"]);
  for (const [low, high] of [[0.0007, 0.0016], [0.1, 1e7], [0.5, 0.51], [3, 3], [1e-30, 1e30]]) {
    const ticks = chooseLogTicks([low, high])?.tickvals.map(Math.log10) ?? [];
    assert.ok(ticks.length >= 1 && ticks.length <= 5, `${low} to ${high}: ${ticks}`);
    const span = Math.log10(high / low) + 0.1;
    ticks.forEach((tick, i) => assert.ok(i === 0 || tick - ticks[i - 1] > 0.15 * span, `${low} to ${high}: ${ticks}`));
  }
  assert.equal(chooseLogTicks([null, 0, -1]), null);
});

test("elements: linear while calm, and visible before and after an explosion", () => {
  const { place, axis } = makeSymmetricAxis([-0.1, 0.1, 0.12, -0.12, 0.1, -0.1, -1000, 1000]);
  const edge = axis.range[1];
  assert.equal(place(null), null);
  assert.equal(place(0), 0);
  assert.ok(place(0.1) / edge > 0.05, "calm elements are more than a line");
  assert.ok(Math.abs(place(1000)) < edge);
  assert.deepEqual(axis.ticktext, ["−1,000", "0", "1,000"]);
  assert.deepEqual(makeSymmetricAxis([null]).axis.ticktext, ["−1", "0", "1"]);
});
