import assert from "node:assert/strict";
import test from "node:test";

import { traceCourse } from "../gradwatch_frontend/charts/course.js";
import { describeBroken, describeRows, findBadColumns } from "../gradwatch_frontend/pages/run/inputs.js";
import { listRows, nameWithin } from "../gradwatch_frontend/pages/run/layer.js";

const tensor = (name, kinds, layer = "block/dense") => ({ tensor: name, kinds, layer, variable: name, shape: [], dtype: "float32", n_elements: 1, depth: 0 });
const variable = (name) => tensor(`block/dense/${name}`, ["gradient", "weight", "update"]);
const output = tensor("block/dense", ["activation", "backprop"]);

test("a layer's output comes first, then its variables, each in the order of a step", () => {
  const rows = listRows([variable("kernel"), variable("bias"), output], "block/dense/bias");
  assert.deepEqual(rows.map(({ kind }) => kind), ["activation", "backprop", "gradient", "update", "weight", "gradient", "update", "weight"]);
  assert.deepEqual([...new Set(rows.map((row) => row.tensor))], ["block/dense", "block/dense/kernel", "block/dense/bias"]);
});

test("of a layer with many variables the picked one and the output stay", () => {
  const family = [...new Array(30).fill(null).map((_, i) => variable(`w${i}`)), output];
  const rows = listRows(family, "block/dense/w29");
  assert.ok(rows.length <= 14);
  assert.ok(rows.some((row) => row.tensor === "block/dense/w29"));
  assert.ok(rows.some((row) => row.kind === "backprop"));
});

test("within its layer a tensor has a short name", () => {
  assert.equal(nameWithin("block/dense/kernel", variable("kernel")), "kernel");
  assert.equal(nameWithin("block/dense", output), "output");
  assert.equal(nameWithin("block/dense (2)", tensor("block/dense (2)", ["activation"])), "output (2)");
  assert.equal(nameWithin("block/dense/sigmoid (2)", tensor("block/dense/sigmoid (2)", ["activation"])), "sigmoid (2) within");
  assert.equal(nameWithin("input/age", tensor("input/age", ["input"], "")), "input/age");
});

test("a course is a line where it is known, and a bar where it is not finite", () => {
  const series = { steps: [0, 10, 20, 30], mean: [1, 100, null, null], n_nonfinite: [0, 0, 4, 4] };
  const { points, bars } = traceCourse(series, [0, 40]);
  assert.equal(points.length, 1);
  assert.ok(points[0][0][1] > points[0][1][1], "what grows goes up");
  assert.deepEqual(bars, [[52, 104]]);
  assert.deepEqual(traceCourse({ steps: [], mean: [], n_nonfinite: [] }, [0, 40]), { points: [], bars: [] });
});

const columns = (extra = {}) => ({
  tensor: "input", n_columns: 4, n_steps: 10, first_step: 5, last_step: 14, n_nonfinite: [0, 7, 0, 40], n_steps_nonfinite: [0, 1, 0, 10],
  min: [0, 0, 0, null], max: [1, 1, 1, null], rows: [], ...extra,
});

test("broken columns come with count and share of steps, the worst first", () => {
  assert.deepEqual(findBadColumns(columns()), [{ column: 3, n: 40, share: 1 }, { column: 1, n: 7, share: 0.1 }]);
  assert.equal(describeBroken(columns(), 2), "2 of 4 columns of input held NaN or Inf, steps 5 to 14.");
});

test("an input whose columns are too many, and one that is finite, are said to be so", () => {
  const rows = [{ step: 5, rows: [1, 2], n_rows: 9 }];
  assert.match(describeBroken(columns({ n_columns: 0, n_nonfinite: [], rows }), 0), /too many columns/);
  assert.equal(describeBroken(columns({ n_nonfinite: [0, 0, 0, 0] }), 0), "input: all 4 columns finite in 10 steps, steps 5 to 14.");
  assert.equal(describeRows([1, 2], 9), "1, 2 and 7 more");
  assert.equal(describeRows([1, 2], 2), "1, 2");
});
