/** The comparison in the browser: each role's trace once for every run, by step or by seconds since the run's start. */

import { formatState } from "../format.js";
import { Plot, escapeMarkup, findTrace, stackRows } from "./plot.js";
import { chooseLogTicks } from "./scale.js";

/** @typedef {import("../schema.js").Series} Series */
/**
 * @typedef {object} ComparedRun
 * @property {string} name
 * @property {Series | null} loss
 * @property {Series | null} gradient_norm
 * @property {Series | null} tensor the picked tensor's norm
 * @property {boolean} isShown
 */

export class CompareChart {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.plot = new Plot(element, "compare");
  }

  /**
   * @param {ComparedRun[]} runs
   * @param {"step" | "time"} by
   * @param {string | null} tensor
   */
  draw(runs, by, tensor) {
    this.plot.draw((specification) => build(specification, runs, by, tensor));
  }

  close() {
    this.plot.close();
  }
}

/**
 * @param {import("./plot.js").Specification} specification
 * @param {ComparedRun[]} runs
 * @param {"step" | "time"} by
 * @param {string | null} tensor
 * @returns {import("./plot.js").Specification}
 */
export function build(specification, runs, by, tensor) {
  const { layout } = specification;
  /** @type {any[]} */
  const data = [];
  runs.forEach((run, i) => {
    if (!run.isShown) return;
    const color = layout.colorway[i % layout.colorway.length];
    for (const role of /** @type {const} */ (["loss", "gradient_norm", "tensor"])) {
      const series = run[role];
      if (series === null) continue;
      const trace = structuredClone(findTrace(specification, role));
      const isLog = role !== "loss";
      data.push({
        ...trace, name: run.name, line: { ...trace.line, color }, x: findX(series, by),
        y: isLog ? series.mean.map((value) => (value !== null && value > 0 ? value : null)) : series.mean,
      });
    }
    if (run.loss !== null) data.push(markNonfinite(specification, run, run.loss, by, i));
  });
  if (tensor === null) {
    stackRows(layout, { tensor: 0 });
    layout.xaxis.anchor = "y2";
    layout.annotations = layout.annotations.filter((/** @type {{name: string}} */ { name }) => name !== "title-y3");
  }
  for (const title of layout.annotations) if (title.name === "title-y3") title.text = `gradient norm of ${escapeMarkup(tensor ?? "")}`;
  const xs = data.flatMap(({ x }) => x).filter((value) => value !== null);
  if (xs.length > 0) layout.xaxis.range = [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b))];
  const shown = runs.filter(({ isShown }) => isShown);
  Object.assign(layout.yaxis2, chooseLogTicks(shown.flatMap((run) => run.gradient_norm?.mean ?? []), 6));
  Object.assign(layout.yaxis3, chooseLogTicks(shown.flatMap((run) => run.tensor?.mean ?? []), 6));
  layout.xaxis.title.text = layout.meta.by[by];
  if (by === "time") layout.xaxis.tickformat = "~s";
  return { data, layout };
}

/**
 * @param {import("./plot.js").Specification} specification
 * @param {ComparedRun} run
 * @param {Series} loss
 * @param {"step" | "time"} by
 * @param {number} i place of the run: marks of several runs stand below each other
 */
function markNonfinite(specification, run, loss, by, i) {
  const marks = structuredClone(findTrace(specification, "loss_nonfinite"));
  const x = findX(loss, by);
  marks.name = run.name;
  marks.text = [];
  loss.state.forEach((state, point) => {
    if (state === null) return;
    marks.x.push(x[point] ?? null);
    marks.y.push(0.97 - 0.06 * i);
    marks.text.push(formatState(state));
  });
  return marks;
}

/**
 * @param {Series} series
 * @param {"step" | "time"} by
 * @returns {(number | null)[]}
 */
function findX(series, by) {
  if (by === "step") return series.steps;
  const start = series.times.find((time) => time !== null) ?? 0;
  return series.steps.map((_, i) => {
    const time = series.times[i] ?? null;
    return time === null ? null : time - start;
  });
}
