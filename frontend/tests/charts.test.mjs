import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { build as buildCompare } from "../gradwatch_frontend/charts/compare_chart.js";
import { findTrace, stackRows } from "../gradwatch_frontend/charts/plot.js";
import { build as buildLines } from "../gradwatch_frontend/charts/lines_chart.js";
import { build as buildRun } from "../gradwatch_frontend/charts/run_chart.js";
import { SHARE_SCALE, chooseScale } from "../gradwatch_frontend/charts/scale.js";
import { placeFindings } from "../gradwatch_frontend/charts/timeline.js";

const load = (name) => JSON.parse(readFileSync(new URL(`../../tests/contract/snapshots/figure_${name}.json`, import.meta.url), "utf8"));

const N = 40;
const steps = [...new Array(N).keys()];
const series = (mean, state = mean.map(() => null)) => ({
  tensor: "loss", kind: "scalar", statistic: null, steps, min: mean, mean, max: mean, n_nonfinite: [], state,
  times: steps.map((step) => 100 + step), downsampled_by: 1,
});

function makeNumbers(extra = {}) {
  const tensors = ["stem/kernel", "block/<b>odd</b>/kernel", "head/kernel"];
  const heatmap = {
    kind: "gradient", statistic: "norm", tensors, steps, step_end: N, downsampled_by: 1,
    values: tensors.map(() => steps.map((step) => (step < 30 ? 0.1 : null))),
    n_nonfinite: tensors.map((_, row) => steps.map((step) => (step >= 30 + row ? 8 : 0))),
    missing: tensors.map((_, row) => steps.map(() => Number(row === 2))),
  };
  const lane = (first) => steps.map((step) => (step >= first ? 8 : 0));
  const loss = steps.map((step) => (step < 31 ? 1 / (step + 1) : null));
  return {
    heatmap, loss: series(loss, loss.map((value) => (value === null ? "nan" : null))), validation: null, rate: null, correlations: [],
    nonfinite: { steps, step_end: N, gradient: lane(30), update: lane(30), weight: lane(31), loss: lane(31).map(Boolean).map(Number), downsampled_by: 1 },
    order: [0, 1, 2], picked: "head/kernel", scale: chooseScale(heatmap), sizes: new Map(tensors.map((tensor) => [tensor, 64])),
    range: [0, N], findings: [{ id: "a", title: "NaN", first: 30, last: null, tone: "nonfinite" }], told: "a", quantity: "gradient norm", ...extra,
  };
}

const build = (figure, width, numbers, rows) => buildRun(figure, width, numbers, rows, placeFindings(numbers.findings, numbers.range, width - 234));

test("non-finite cells, marks and lanes stand at their steps", () => {
  const figure = build(load("run"), 1000, makeNumbers(), null);
  const bad = findTrace(figure, "heatmap_nonfinite");
  assert.deepEqual([bad.z[0][29], bad.z[0][30], bad.z[1][30], bad.z[1][31]], [null, 1, null, 1]);
  assert.equal(bad.x.length, N + 1);
  assert.deepEqual(findTrace(figure, "loss_nonfinite").x, steps.slice(31));
  assert.deepEqual(findTrace(figure, "loss_nonfinite").text.slice(0, 2), ["NaN", "NaN"]);
  const lane = findTrace(figure, "lane");
  assert.deepEqual(figure.layout.meta.lanes, ["loss", "gradient", "update", "weight"]);
  assert.deepEqual(lane.z.map((row) => row.indexOf(1)), [31, 30, 30, 31]);
});

test("a validation loss is a line beside the loss, named at its end; without one nothing is drawn", () => {
  const validation = { ...series([0.9, null, 0.7], [null, "inf", null]), steps: [9, 19, 29] };
  const trace = findTrace(build(load("run"), 1000, makeNumbers({ validation }), null), "validation_loss");
  assert.deepEqual([trace.x, trace.y, trace.text], [validation.steps, [0.9, null, 0.7], ["", "", "validation"]]);
  assert.deepEqual(findTrace(build(load("run"), 1000, makeNumbers(), null), "validation_loss").x, []);
});

test("how far outputs follow each target is a line, named where there are several; without any their row gives way", () => {
  const one = { ...series([0.1, 0.5, null]), tensor: "target_correlation", steps: [9, 19, 29] };
  const opposed = { ...one, tensor: "target_correlation/<b>x</b>", mean: [-0.1, -0.9, -0.8] };
  const lines = (correlations) => {
    const figure = build(load("run"), 1000, makeNumbers({ correlations }), null);
    return { axis: figure.layout.yaxis7, lines: figure.data.filter(({ meta }) => meta.role === "correlation") };
  };
  assert.deepEqual(lines([]), { axis: undefined, lines: [] });
  const alone = lines([one]);
  assert.deepEqual(alone.lines.map(({ x, y, text }) => [x, y, text]), [[one.steps, one.mean, ["", "", ""]]]);
  assert.deepEqual(alone.axis.range, [-0.08, 1.08]);
  const both = lines([{ ...one, tensor: "target_correlation/kind" }, opposed]);
  assert.deepEqual(both.lines.map(({ text }) => text), [["", "kind", ""], ["", "", "&lt;b&gt;x&lt;/b&gt;"]]);
  assert.deepEqual(both.axis.tickvals, [-1, 0, 1]);
});

test("rows follow the order, and the picked one is named in bold as text, not as markup", () => {
  const figure = build(load("run"), 1000, makeNumbers({ order: [2, 1, 0], picked: "block/<b>odd</b>/kernel" }), null);
  assert.deepEqual(figure.layout.yaxis3.ticktext, ["head/kernel", "<b>block/&lt;b&gt;odd&lt;/b&gt;/kernel</b>", "stem/kernel"]);
  assert.deepEqual(findTrace(figure, "missing").y.slice(0, 5), [-0.5, -0.5, 0.5, 0.5, -0.5]);
});

test("without a learning rate its row gives way; rows never overlap", () => {
  const none = series(steps.map(() => null)); // weights that a script assigns itself have none
  for (const [rate, isThere] of [[null, false], [none, false], [series(steps.map(() => 1e-3)), true]]) {
    const { layout } = build(load("run"), 1000, makeNumbers({ rate }), null);
    const shown = layout.meta.rows.filter((row) => row.name !== "correlation" && (row.name !== "learning_rate" || isThere)).map((row) => layout[row.axis].domain);
    shown.forEach(([bottom], i) => assert.ok(i === shown.length - 1 || bottom > shown[i + 1][1]));
    assert.equal(shown.at(-1)[0], 0);
    assert.equal(layout.annotations.some(({ text }) => text === "learning rate"), isThere);
  }
});

test("a single bad cell among many steps gets a mark that can be seen", () => {
  const numbers = makeNumbers();
  numbers.heatmap.n_nonfinite = numbers.heatmap.tensors.map((_, row) => steps.map((step) => Number(row === 1 && step === 7)));
  const wide = build(load("run"), 1000, { ...numbers, range: [0, 40_000] }, null);
  const mark = findTrace(wide, "nonfinite_mark");
  assert.deepEqual([mark.x, mark.y], [[7], [1]]);
  assert.deepEqual(findTrace(build(load("run"), 1000, numbers, null), "nonfinite_mark").x, []);
});

test("findings stand at their first steps in their colours; without any their row gives way", () => {
  const late = { id: "b", title: "exploding <b>", first: 10, last: 12, tone: "warning" };
  const numbers = makeNumbers();
  numbers.findings.push(late);
  const { data, layout } = build(load("run"), 1000, numbers, null);
  const marks = findTrace({ data, layout }, "finding");
  assert.deepEqual([marks.x, marks.text], [[30, 10], ["NaN", "exploding &lt;b&gt;"]]);
  assert.deepEqual(marks.marker.color, [layout.meta.onset.nonfinite, layout.meta.onset.warning]);
  const spans = layout.shapes.filter(({ yref, type }) => yref === "y6" && type === "rect");
  assert.deepEqual(spans.map(({ x0, x1 }) => [x0, x1]), [[29.5, N - 0.5], [9.5, 12.5]]);
  assert.ok(spans[0].opacity > spans[1].opacity);
  const calm = build(load("run"), 1000, makeNumbers({ findings: [], told: null }), null);
  assert.equal(calm.layout.yaxis6, undefined);
  assert.ok(!calm.layout.annotations.some(({ text }) => text === "findings"));
});

test("thinned steps hold what was captured last, NaN too; ticks say when it was captured, where they fit", () => {
  const values = steps.map((step) => (step % 16 === 0 && step < 32 ? 0.1 : null));
  const counts = steps.map((step) => (step % 16 === 0 ? (step >= 32 ? 8 : 0) : null));
  const numbers = makeNumbers();
  const row = { tensors: ["act"], values: [values], n_nonfinite: [counts], missing: [steps.map(() => 0)], kind: "activation" };
  const one = { ...numbers, heatmap: { ...numbers.heatmap, ...row }, order: [0], picked: null };
  const wide = build(load("run"), 1000, one, null);
  assert.deepEqual([16, 17, 32].map((step) => findTrace(wide, "heatmap").z[0][step]), [-1, -1, null]);
  assert.deepEqual([31, 32, 33].map((step) => findTrace(wide, "heatmap_nonfinite").z[0][step]), [null, 1, 1]);
  assert.deepEqual(findTrace(wide, "captured").x, [0, 16, 32]);
  assert.deepEqual(findTrace(build(load("run"), 1000, { ...one, range: [0, 40_000] }, null), "captured").x, []);
  assert.deepEqual(findTrace(build(load("run"), 1000, numbers, null), "captured").x, []);
});

test("shares are coloured from 0 to 1", () => {
  const numbers = makeNumbers({ scale: SHARE_SCALE });
  const cells = findTrace(build(load("run"), 1000, numbers, null), "heatmap");
  assert.deepEqual([cells.zmin, cells.zmax, cells.z[0][0]], [0, 1, 0.1]);
});

test("lines through few points mark them", () => {
  const few = { ...series([1, 2, 3]), steps: [0, 16, 32] };
  const lines = (norm) => ({ norm, min: norm, max: norm, mean: norm, ratio: null, range: [0, N] });
  assert.equal(findTrace(buildLines(load("lines"), 340, lines(few)), "norm").mode, "lines+markers");
  const many = { ...series(new Array(400).fill(1)), steps: [...new Array(400).keys()] };
  assert.equal(findTrace(buildLines(load("lines"), 340, { ...lines(many), range: [0, 400] }), "norm").mode, "lines");
});

test("a run that is calm says so in its lanes", () => {
  const numbers = makeNumbers({ findings: [], told: null });
  for (const lane of ["gradient", "weight", "update", "loss"]) numbers.nonfinite[lane] = steps.map(() => 0);
  const { layout } = build(load("run"), 1000, numbers, null);
  assert.ok(layout.annotations.some(({ text }) => text === "NaN and Inf: none so far"));
});

test("compared runs have a colour each and may stand by time", () => {
  const runs = ["a", "b"].map((name) => ({ name, loss: series(steps.map((step) => step)), gradient_norm: null, tensor: null, isShown: true }));
  const byTime = buildCompare(load("compare"), runs, "time", null);
  const losses = byTime.data.filter((trace) => trace.meta.role === "loss");
  assert.deepEqual(losses.map((trace) => trace.line.color), byTime.layout.colorway.slice(0, 2));
  assert.deepEqual([losses[0].x[0], losses[0].x[5]], [0, 5]);
  assert.equal(byTime.layout.xaxis.title.text, "seconds since the start");
  assert.equal(buildCompare(load("compare"), [{ ...runs[0], isShown: false }, runs[1]], "step", null).data.filter((trace) => trace.meta.role === "loss").length, 1);
});

test("a role that a specification lacks is named", () => {
  assert.throws(() => findTrace(load("run"), "nobody"), /no trace with the role nobody/);
});

test("heights in pixels come out as asked", () => {
  const { layout } = load("run");
  stackRows(layout, { heatmap: 400 });
  const inner = layout.height - layout.margin.t - layout.margin.b;
  const [bottom, top] = layout.yaxis3.domain;
  assert.ok(Math.abs((top - bottom) * inner - 400) < 1e-6);
});
