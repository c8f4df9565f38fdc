/** The lines of one tensor in the browser: norm, range of its elements and update ratio, with non-finite steps marked. */

import { h } from "../dom.js";
import { formatCount } from "../format.js";
import { Plot, findTrace, stackRows } from "./plot.js";
import { chooseLogTicks, makeSymmetricAxis } from "./scale.js";

/** @typedef {import("../schema.js").Series} Series */
/**
 * @typedef {object} TensorLines
 * @property {Series} norm
 * @property {Series} min least element
 * @property {Series} max largest element
 * @property {Series} mean
 * @property {Series | null} ratio update norm / weight norm
 * @property {[number, number]} range
 */

export class LinesChart {
  /** @type {PlotlyElement | null} */
  #drawn = null;
  /** @type {(range: [number, number] | null) => void} */
  onZoom = () => {};
  /** @type {(step: number | null) => void} */
  onHover = () => {};

  /** @param {HTMLElement} element */
  constructor(element) {
    this.canvas = h("div", { class: "plot" });
    this.crosshair = h("div", { class: "crosshair", hidden: true });
    element.append(this.canvas, this.crosshair);
    this.plot = new Plot(this.canvas, "lines");
    this.plot.onDrawn = (drawn) => this.#adopt(drawn);
  }

  /** @param {TensorLines} lines */
  draw(lines) {
    this.plot.draw((specification, width) => build(specification, width, lines));
  }

  /** @param {PlotlyElement} drawn */
  #adopt(drawn) {
    if (this.#drawn === null) {
      drawn.on("plotly_relayout", (change) => {
        const [left, right] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
        if (typeof left === "number" && typeof right === "number") {
          const first = Math.max(0, Math.round(left));
          this.onZoom([first, Math.max(first + 1, Math.round(right) + 1)]);
        }
      });
      drawn.on("plotly_doubleclick", () => this.onZoom(null));
      drawn.on("plotly_hover", (event) => this.onHover(typeof event.xvals?.[0] === "number" ? Math.round(event.xvals[0]) : null));
      drawn.on("plotly_unhover", () => this.onHover(null));
    }
    this.#drawn = drawn;
  }

  /**
   * Shows where the run figure is pointed at.
   * @param {number | null} step
   */
  pointAt(step) {
    const layout = this.#drawn?._fullLayout;
    if (!layout?.xaxis) return;
    const { xaxis, _size: size } = layout;
    const x = step === null ? -1 : xaxis.d2p(step);
    this.crosshair.hidden = !(x >= 0 && x <= xaxis._length);
    this.crosshair.style.left = `${xaxis._offset + x}px`;
    this.crosshair.style.top = `${size.t}px`;
    this.crosshair.style.height = `${size.h}px`;
  }

  close() {
    this.plot.close();
  }
}

/** Points farther apart than this are marked: between them nothing was captured, and the line only leads on. */
const SPARSE_PX = 9;

/**
 * @param {import("./plot.js").Specification} specification
 * @param {number} width
 * @param {TensorLines} lines
 * @returns {import("./plot.js").Specification}
 */
export function build(specification, width, lines) {
  const { layout } = specification;
  const perStep = (width - layout.margin.l - layout.margin.r) / (lines.range[1] - lines.range[0]);
  const put = (/** @type {string} */ role, /** @type {number[]} */ x, /** @type {(number | null)[]} */ y) => {
    const spread = x.length > 1 ? ((x[x.length - 1] ?? 0) - (x[0] ?? 0)) / (x.length - 1) : Infinity;
    const marks = spread * perStep > SPARSE_PX ? { mode: "lines+markers", marker: { size: 4 } } : {};
    return Object.assign(findTrace(specification, role), { x, y }, role.includes("band") || role === "value_low" ? {} : marks);
  };
  // Plotly fills between two lines wrongly where they have gaps; the marks above say where that is.
  const putBand = (/** @type {string} */ role, /** @type {number[]} */ x, /** @type {(number | null)[]} */ y) =>
    put(role, x.filter((_, i) => y[i] !== null), y.filter((value) => value !== null));
  putBand("norm_band_low", lines.norm.steps, positive(lines.norm.min));
  putBand("norm_band", lines.norm.steps, positive(lines.norm.max));
  put("norm", lines.norm.steps, positive(lines.norm.mean));
  const { place, axis } = makeSymmetricAxis([...lines.min.min, ...lines.max.max]);
  Object.assign(layout.yaxis2, axis);
  putBand("value_low", lines.min.steps, lines.min.min.map(place));
  putBand("value_band", lines.max.steps, lines.max.max.map(place));
  put("value_mean", lines.mean.steps, lines.mean.mean.map(place)).customdata = lines.mean.mean;
  Object.assign(layout.yaxis, chooseLogTicks([...lines.norm.min, ...lines.norm.max]));
  const isEmpty = lines.norm.mean.every((value) => value === null) && !lines.norm.n_nonfinite.some(Boolean);
  if (isEmpty) {
    // A variable that no gradient reaches has updates at most (weight decay moves it); an axis without a line says nothing.
    stackRows(layout, { norm: 0, value: 0 });
    layout.annotations = layout.annotations.filter((/** @type {{name: string}} */ { name }) => name === "title-y3");
  }
  if (lines.ratio === null) {
    stackRows(layout, { update_ratio: 0 });
    layout.shapes = [];
    layout.annotations = layout.annotations.filter((/** @type {{name: string}} */ { name }) => name !== "title-y3");
    layout.xaxis.anchor = "y2";
  } else {
    put("update_ratio", lines.ratio.steps, positive(lines.ratio.mean));
    Object.assign(layout.yaxis3, chooseLogTicks([...lines.ratio.mean, ...layout.shapes.map((/** @type {{y0: number}} */ { y0 }) => y0)]));
  }
  const marks = findTrace(specification, "nonfinite");
  lines.norm.steps.forEach((step, i) => {
    const n = lines.norm.n_nonfinite[i] ?? 0;
    if (!n) return;
    marks.x.push(step);
    marks.y.push(0.96);
    marks.text = [...(marks.text ?? []), formatCount(n)];
  });
  layout.xaxis.range = [lines.range[0] - 0.5, lines.range[1] - 0.5];
  return specification;
}

/**
 * A logarithmic axis has no place for 0.
 * @param {(number | null)[]} values
 * @returns {(number | null)[]}
 */
const positive = (values) => values.map((value) => (value !== null && value > 0 ? value : null));
