/**
 * The run figure in the browser: puts loss, rate, heatmap and lanes into the specification, and answers the pointer:
 * a crosshair through all rows, what lies under it in words, a click that picks a layer, a drag that zooms.
 */

import { findEdges, findCaptured, findMedian, findSpans, holdLane, holdRow } from "../columns.js";
import { h } from "../dom.js";
import { formatCount, formatNumber, formatShare, formatState, formatStep, formatStepRange, shortenPath } from "../format.js";
import { CORRELATION, LINEAR_FIT } from "../numbers.js";
import { findStep } from "../series.js";
import { Plot, escapeMarkup, findTrace, stackRows } from "./plot.js";
import { chooseLabels, colorRow, moveBorder } from "./scale.js";
import { countTracks, findFinding, placeFindings } from "./timeline.js";

/** @typedef {import("../schema.js").Series} Series */
/** @typedef {import("./plot.js").Specification} Specification */
/**
 * @typedef {object} RunNumbers
 * @property {import("../schema.js").Heatmap} heatmap rows in the order of `tensors`
 * @property {import("../schema.js").Nonfinite} nonfinite
 * @property {Series | null} loss
 * @property {Series | null} validation the validation loss
 * @property {Series | null} rate
 * @property {Series[]} correlations how far outputs follow each target, as the hook names them
 * @property {number[]} order which row of the heatmap stands where, topmost first
 * @property {string | null} picked
 * @property {import("./scale.js").Scale} scale
 * @property {Map<string, number | null>} sizes elements of each tensor
 * @property {[number, number]} range first step and end (exclusive)
 * @property {import("./timeline.js").TimelineFinding[]} findings the leading one first
 * @property {string | null} told the finding that the verdict tells of
 * @property {string} quantity what the heatmap shows, in words
 */

const LABEL_LENGTH = 27;
/** What fits beside the chart. */
const MARGIN_LENGTH = 10;
const MOST_HEIGHT_PX = 600;
const LEAST_HEIGHT_PX = 220;
/** Below this width a non-finite cell is marked besides, so that one step of 100 000 is not lost on the eye. */
const SMALL_CELL_PX = 4;
const MOST_MARKS = 200;
/** Where what was captured stands this long for what was not, ticks above the heatmap say when it was captured. */
const HELD_PX = 10;
/** How a finding's time is drawn: the one told of, and the others. */
const SPAN_OPACITY = { told: 0.55, other: 0.28 };

export class RunChart {
  /** @type {RunNumbers | null} */
  #numbers = null;
  /** Rows shown, when zoomed vertically: first and end. @type {[number, number] | null} */
  #rows = null;
  /** @type {PlotlyElement | null} */
  #drawn = null;
  /** @type {{x: number, y: number} | null} */
  #pressed = null;
  /** @type {(tensor: string) => void} */
  onPick = () => {};
  /** Gets the id of a finding. @type {(id: string) => void} */
  onFinding = () => {};
  /** @type {import("./timeline.js").PlacedFinding[]} */
  #placed = [];
  /** Gets the first step and the end, or null for all. @type {(range: [number, number] | null) => void} */
  onZoom = () => {};
  /** @type {(step: number | null) => void} */
  onHover = () => {};

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.canvas = h("div", { class: "plot" });
    this.crosshair = h("div", { class: "crosshair", hidden: true });
    this.rowMark = h("div", { class: "row-mark", hidden: true });
    this.tip = h("div", { class: "tip", hidden: true, role: "status" });
    element.append(this.canvas, this.crosshair, this.rowMark, this.tip);
    this.plot = new Plot(this.canvas, "run");
    this.plot.onDrawn = (drawn) => this.#adopt(drawn);
    element.addEventListener("pointermove", (event) => this.#point(event));
    element.addEventListener("pointerleave", () => this.#leave());
    element.addEventListener("pointerdown", (event) => (this.#pressed = { x: event.clientX, y: event.clientY }), true);
    // Plotly covers the page while it waits for a drag, so the release is heard on the window.
    this.release = (/** @type {PointerEvent} */ event) => this.#release(event);
    window.addEventListener("pointerup", this.release, true);
  }

  /** @param {RunNumbers} numbers */
  draw(numbers) {
    if (this.#numbers?.heatmap.tensors.length !== numbers.heatmap.tensors.length) this.#rows = null;
    this.#numbers = numbers;
    this.plot.draw((specification, width) => {
      const inner = innerWidth(specification.layout, width);
      this.#placed = placeFindings(numbers.findings, numbers.range, inner);
      return build(specification, width, numbers, this.#rows, this.#placed);
    });
  }

  /** Shows all rows again. */
  resetRows() {
    this.#rows = null;
    if (this.#numbers) this.draw(this.#numbers);
  }

  /** @param {PlotlyElement} drawn */
  #adopt(drawn) {
    if (this.#drawn === null) {
      drawn.on("plotly_relayout", (change) => this.#relayout(change));
      drawn.on("plotly_doubleclick", () => {
        this.resetRows();
        this.onZoom(null);
      });
    }
    this.#drawn = drawn;
  }

  /** @param {Record<string, unknown>} change */
  #relayout(change) {
    const numbers = this.#numbers;
    if (numbers === null) return;
    const top = change["yaxis3.range[1]"];
    const bottom = change["yaxis3.range[0]"];
    if (typeof top === "number" && typeof bottom === "number") {
      const first = Math.max(0, Math.floor(Math.min(top, bottom) + 0.5));
      this.#rows = [first, Math.min(numbers.order.length, Math.max(first + 1, Math.ceil(Math.max(top, bottom) + 0.5)))];
    }
    const left = change["xaxis.range[0]"];
    const right = change["xaxis.range[1]"];
    if (typeof left === "number" && typeof right === "number") {
      const first = Math.max(0, Math.round(Math.min(left, right)));
      this.onZoom([first, Math.max(first + 1, Math.round(Math.max(left, right)) + 1)]);
    } else {
      this.draw(numbers);
    }
  }

  /**
   * Where a pointer stands: step, column and row; null outside.
   * @param {{clientX: number, clientY: number}} event
   */
  #locate(event) {
    const layout = this.#drawn?._fullLayout;
    if (!layout?.xaxis || this.#numbers === null) return null;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const { xaxis } = layout;
    const isInside = x >= xaxis._offset && x <= xaxis._offset + xaxis._length;
    const step = Math.round(xaxis.p2d(x - xaxis._offset));
    const named = { loss: "yaxis", learning_rate: "yaxis2", correlation: "yaxis7", findings: "yaxis6", heatmap: "yaxis3", lane: "yaxis4" };
    let area = null;
    let level = 0;
    for (const [name, axis] of Object.entries(named)) {
      if (layout[axis] === undefined) continue; // a row that is left out
      const { _offset: top, _length: length } = layout[axis];
      if (y >= top && y <= top + length) {
        area = name;
        level = layout[axis].p2d(y - top);
      }
    }
    return { x, y, step, isInside, area, level: Math.round(level), layout };
  }

  /**
   * @param {{x: number, area: string | null, level: number, layout: any}} place
   * @returns {import("./timeline.js").PlacedFinding | null}
   */
  #findFinding({ x, area, level, layout }) {
    const { _offset, _length, range } = layout.xaxis;
    if (area !== "findings") return null;
    return findFinding(this.#placed, layout.xaxis.p2d(x - _offset), level, _length / (range[1] - range[0]));
  }

  /** @param {PointerEvent} event */
  #point(event) {
    const place = event.buttons === 0 ? this.#locate(event) : null;
    const numbers = this.#numbers;
    if (place === null || numbers === null) return this.#leave();
    const row = place.area === "heatmap" ? numbers.order[place.level] : undefined;
    const finding = this.#findFinding(place);
    this.element.classList.toggle("pickable", row !== undefined || finding !== null);
    if (!place.isInside && row === undefined) return this.#leave();
    this.#showCrosshair(place, row);
    const lines = finding !== null ? describeFinding(finding) : place.isInside ? describe(numbers, place.step, row) : [h("b", {}, numbers.heatmap.tensors[row ?? 0] ?? "")];
    this.tip.replaceChildren(...lines);
    this.tip.hidden = false;
    this.#placeTip(place);
    this.onHover(place.isInside ? place.step : null);
  }

  /**
   * @param {{isInside: boolean, step: number, level: number, layout: any}} place
   * @param {number | undefined} row
   */
  #showCrosshair(place, row) {
    const { xaxis, yaxis3 } = place.layout;
    this.pointAt(place.isInside ? place.step : null);
    this.rowMark.hidden = row === undefined;
    if (row === undefined) return;
    const top = yaxis3.d2p(place.level - 0.5);
    const height = Math.max(3, yaxis3.d2p(place.level + 0.5) - top);
    this.rowMark.style.left = `${xaxis._offset}px`;
    this.rowMark.style.width = `${xaxis._length}px`;
    this.rowMark.style.top = `${yaxis3._offset + top}px`;
    this.rowMark.style.height = `${height}px`;
  }

  /** @param {{x: number, y: number}} place */
  #placeTip({ x, y }) {
    const width = this.tip.offsetWidth;
    const isRight = x + 18 + width > this.element.clientWidth;
    this.tip.style.left = `${Math.max(0, isRight ? x - 18 - width : x + 18)}px`;
    this.tip.style.top = `${Math.min(y + 14, this.element.clientHeight - this.tip.offsetHeight)}px`;
  }

  #leave() {
    for (const part of [this.crosshair, this.rowMark, this.tip]) part.hidden = true;
    this.onHover(null);
  }

  /** @param {PointerEvent} event */
  #release(event) {
    const pressed = this.#pressed;
    this.#pressed = null;
    if (pressed === null || Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 4) return;
    const place = this.#locate(event);
    const finding = place === null ? null : this.#findFinding(place);
    if (finding !== null) return this.onFinding(finding.id);
    const row = place?.area === "heatmap" ? this.#numbers?.order[place.level] : undefined;
    const tensor = row === undefined ? undefined : this.#numbers?.heatmap.tensors[row];
    if (tensor !== undefined) this.onPick(tensor);
  }

  /**
   * Draws the line through all rows at a step, also for another chart that is pointed at.
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
    window.removeEventListener("pointerup", this.release, true);
    this.plot.close();
  }
}

/**
 * @param {import("./timeline.js").PlacedFinding} finding
 * @returns {HTMLElement[]}
 */
function describeFinding({ title, first, last }) {
  const steps = last === null ? `from step ${formatStep(first)} on` : formatStepRange(first, last + 1);
  return [h("b", {}, title.replaceAll("`", "")), h("div", { class: "muted" }, `${steps} · click to read it and see its onset`)];
}

/**
 * Words for what lies under the pointer.
 * @param {RunNumbers} numbers
 * @param {number} step
 * @param {number | undefined} row of the heatmap, if the pointer is in it
 * @returns {HTMLElement[]}
 */
function describe(numbers, step, row) {
  const { heatmap, nonfinite, loss, validation, rate, correlations } = numbers;
  const column = step < heatmap.step_end ? findStep(heatmap.steps, step) : -1;
  const lines = [];
  const line = (/** @type {string} */ name, /** @type {string} */ value, isBad = false) =>
    lines.push(h("div", { class: "tip-line" }, h("span", {}, name), h("span", { class: isBad ? "bad" : "" }, value)));
  if (row !== undefined) {
    lines.push(h("b", {}, heatmap.tensors[row] ?? ""));
    const first = heatmap.steps[column];
    lines.push(h("div", { class: "muted" }, first === undefined ? `step ${formatStep(step)}` : formatStepRange(first, heatmap.steps[column + 1] ?? heatmap.step_end)));
    const value = heatmap.values[row]?.[column] ?? null;
    const bad = heatmap.n_nonfinite[row]?.[column] ?? 0;
    if ((heatmap.missing[row]?.[column] ?? 0) === 1) lines.push(h("div", {}, "no gradient reaches this variable"));
    else if (value === null && !bad) lines.push(...describeHeld(numbers, row, column));
    if (value !== null) {
      line(numbers.quantity, formatLevel(numbers, value));
      line("usually", formatLevel(numbers, findMedian(heatmap.values[row] ?? [])));
    }
    if (bad) line("NaN or Inf", `${formatCount(bad)} of ${formatCount(numbers.sizes.get(heatmap.tensors[row] ?? ""))}`, true);
  } else {
    lines.push(h("b", {}, `step ${formatStep(step)}`));
  }
  const scalar = (/** @type {string} */ name, /** @type {Series | null} */ series) => {
    const i = series === null ? -1 : findStep(series.steps, step);
    if (series === null || i < 0) return;
    const state = series.state[i] ?? null;
    line(name, state === null ? formatNumber(series.mean[i], 4) : formatState(state), state !== null);
  };
  scalar("loss", loss);
  scalar("validation loss", validation);
  scalar("learning rate", rate);
  for (const series of correlations) scalar(nameCorrelation(series, correlations.filter(isOfTarget).length), series);
  const lane = step < nonfinite.step_end ? findStep(nonfinite.steps, step) : -1;
  if (row === undefined && lane >= 0) {
    for (const kind of /** @type {const} */ (["gradient", "update", "weight"])) {
      const n = nonfinite[kind][lane] ?? 0;
      if (n) line(`${kind}: NaN or Inf`, `${formatCount(n)} in one tensor`, true);
    }
  }
  return lines;
}

/**
 * @param {RunNumbers} numbers
 * @param {number | null} value
 * @returns {string}
 */
const formatLevel = ({ scale }, value) => (scale.name === "share" ? formatShare(value) : formatNumber(value));

/**
 * Words for a cell that shows what was captured last.
 * @param {RunNumbers} numbers
 * @param {number} row
 * @param {number} column
 * @returns {HTMLElement[]}
 */
function describeHeld(numbers, row, column) {
  const { heatmap, quantity } = numbers;
  const { values, isBad, isHeld } = holdRow(heatmap, row);
  if (!isHeld[column]) return [h("div", {}, "not captured")];
  let last = column;
  while (last > 0 && isHeld[last]) last -= 1;
  const text = isBad[column] ? "NaN or Inf" : formatLevel(numbers, values[column] ?? null);
  return [
    h("div", {}, "not captured here; the last was"),
    h("div", { class: "tip-line" }, h("span", {}, `${quantity}, step ${formatStep(heatmap.steps[last])}`), h("span", { class: isBad[column] ? "bad" : "" }, text)),
  ];
}

/**
 * @param {any} layout whose margin is made narrower in a narrow window
 * @param {number} width
 * @returns {number} of the step axis
 */
function innerWidth(layout, width) {
  if (width < 620) layout.margin.l = 112;
  return width - layout.margin.l - layout.margin.r;
}

/**
 * Puts the numbers into the specification.
 * @param {Specification} specification
 * @param {number} width
 * @param {RunNumbers} numbers
 * @param {[number, number] | null} zoomed rows
 * @param {import("./timeline.js").PlacedFinding[]} placed findings in their tracks
 * @returns {Specification}
 */
export function build(specification, width, numbers, zoomed, placed) {
  const { layout } = specification;
  const [firstRow, endRow] = zoomed ?? [0, numbers.order.length];
  const nRows = Math.max(1, endRow - firstRow);
  const { row_height_px, row_height_most_px } = layout.meta;
  const height = Math.min(MOST_HEIGHT_PX, Math.max(Math.min(LEAST_HEIGHT_PX, nRows * row_height_most_px), nRows * row_height_px));
  const tracks = countTracks(placed);
  const { rate, correlations } = numbers;
  stackRows(layout, {
    heatmap: height, learning_rate: isKnown(rate) ? 26 : 0, findings: tracks * layout.meta.track_height_px,
    ...(correlations.length === 0 && { correlation: 0 }),
  });
  const inner = innerWidth(layout, width);
  layout.xaxis.range = [numbers.range[0] - 0.5, numbers.range[1] - 0.5];
  layout.xaxis.nticks = Math.max(4, Math.round(inner / 90));
  fillScalars(specification, numbers);
  fillCorrelations(specification, numbers);
  fillFindings(specification, numbers, placed, tracks);
  fillHeatmap(specification, numbers, inner, height / nRows, firstRow);
  fillLane(specification, numbers);
  labelRows(layout, numbers, [firstRow, endRow], height / nRows, width < 620 ? 17 : LABEL_LENGTH);
  markOnset(layout, numbers);
  // The pointer is answered here, in words of all rows at once; the templates are for reports.
  for (const trace of specification.data) Object.assign(trace, { hoverinfo: "skip", hovertemplate: undefined });
  return specification;
}

/**
 * @param {Specification} specification
 * @param {RunNumbers} numbers
 */
function fillScalars(specification, { loss, validation, rate }) {
  const line = findTrace(specification, "loss");
  const marks = findTrace(specification, "loss_nonfinite");
  if (loss !== null) {
    line.x = loss.steps;
    line.y = loss.mean;
    const bad = loss.steps.map((step, i) => ({ step, state: loss.state[i] ?? null })).filter(({ state }) => state !== null);
    marks.x = bad.map(({ step }) => step);
    marks.y = bad.map(() => 0.94);
    marks.text = bad.map(({ state }) => formatState(state));
    if (loss.mean.every((value) => value === null)) specification.layout.yaxis.visible = false;
  }
  if (validation !== null) {
    const trace = findTrace(specification, "validation_loss");
    trace.x = validation.steps;
    trace.y = validation.mean;
    trace.text = validation.steps.map((/** @type {number} */ _, /** @type {number} */ i) => (i === validation.steps.length - 1 ? "validation" : ""));
    const top = Math.max(...[...validation.mean, ...(loss?.mean ?? [])].map((value) => value ?? -Infinity));
    if ((validation.mean.at(-1) ?? -Infinity) > 0.6 * top) trace.textposition = "bottom left"; // above it there is no room
  }
  if (isKnown(rate)) {
    const trace = findTrace(specification, "learning_rate");
    trace.x = rate.steps;
    trace.y = rate.mean;
    const values = rate.mean.filter((value) => value !== null);
    const top = Math.max(...values, 0) || 1;
    specification.layout.yaxis2.range = [0, top * 1.25];
    specification.layout.yaxis2.tickmode = "array";
    specification.layout.yaxis2.tickvals = [top];
    specification.layout.yaxis2.ticktext = [formatNumber(top, 2)];
  } else {
    dropRow(specification, "2");
  }
}

/**
 * Whether a scalar has a value at all: weights that a script assigns itself have no learning rate.
 * @param {Series | null} series
 * @returns {series is Series}
 */
const isKnown = (series) => series !== null && series.mean.some((value) => value !== null);

/**
 * A line for each target: at 1 outputs follow it perfectly, at 0 they might as well be one number.
 * @param {Specification} specification
 * @param {RunNumbers} numbers
 */
function fillCorrelations(specification, { correlations }) {
  if (correlations.length === 0) return dropRow(specification, "7");
  const trace = findTrace(specification, "correlation");
  const { yaxis7 } = specification.layout;
  const values = correlations.flatMap(({ mean }) => mean.filter((value) => value !== null));
  if (Math.min(...values, 0) < -0.15) Object.assign(yaxis7, { range: [-1.08, 1.08], tickvals: [-1, 0, 1], ticktext: ["−1", "0", "1"] });
  const lines = correlations.map((series) => {
    const last = series.mean.findLastIndex((value) => value !== null);
    const name = isOfTarget(series) ? nameTarget(series) : "linear fit";
    const text = series.mean.map((_, i) => (i === last && correlations.length > 1 ? escapeMarkup(shortenPath(name, MARGIN_LENGTH)) : ""));
    const line = { .../** @type {object} */ (trace.line), ...(!isOfTarget(series) && { dash: "dot" }) };
    return { ...trace, line, x: series.steps, y: series.mean, text };
  });
  specification.data.splice(specification.data.indexOf(trace), 1, ...lines);
}

/** @param {Series} series */
const isOfTarget = ({ tensor }) => tensor !== LINEAR_FIT;

/** @param {Series} series of a target's correlation */
const nameTarget = ({ tensor }) => tensor.slice(CORRELATION.length).replace(/^[/ ]/, "");

/**
 * @param {Series} series
 * @param {number} n of how many
 */
const nameCorrelation = (series, n) =>
  isOfTarget(series) ? `correlation with ${n > 1 ? nameTarget(series) : "target"}` : "the same of a linear fit";

/**
 * Leaves a row out with all that is in it; an axis without a trace would draw its grid over everything.
 * @param {Specification} specification
 * @param {string} number of its axis
 */
function dropRow(specification, number) {
  const { layout } = specification;
  delete layout[`yaxis${number}`];
  specification.data = specification.data.filter(({ yaxis }) => yaxis !== `y${number}`);
  layout.annotations = layout.annotations.filter((/** @type {{name: string}} */ { name }) => name !== `title-y${number}`);
}

/**
 * A mark at each finding's first step, and a bar over the steps that it lasts.
 * @param {Specification} specification
 * @param {RunNumbers} numbers
 * @param {import("./timeline.js").PlacedFinding[]} placed
 * @param {number} tracks
 */
function fillFindings(specification, { told, range }, placed, tracks) {
  const { layout } = specification;
  if (tracks === 0) return dropRow(specification, "6");
  const marks = findTrace(specification, "finding");
  layout.yaxis6.range = [tracks - 0.5, -0.5];
  const seen = placed.filter(({ first }) => first >= range[0]);
  marks.x = seen.map(({ first }) => first);
  marks.y = seen.map(({ track }) => track);
  marks.text = seen.map(({ title }) => escapeMarkup(title));
  marks.marker.color = seen.map(({ tone }) => layout.meta.onset[tone]);
  marks.marker.size = seen.map(({ id }) => (id === told ? 11 : 8));
  for (const { id, tone, track, first, end } of placed) {
    layout.shapes.push({
      type: "rect", xref: "x", yref: "y6", x0: Math.max(range[0], first) - 0.5, x1: Math.min(range[1], end) - 0.5, y0: track - 0.16, y1: track + 0.16,
      line: { width: 0 }, fillcolor: layout.meta.onset[tone], opacity: id === told ? SPAN_OPACITY.told : SPAN_OPACITY.other, layer: "below",
    });
  }
}

/**
 * @param {Specification} specification
 * @param {RunNumbers} numbers
 * @param {number} widthPx of the step axis
 * @param {number} rowPx
 * @param {number} firstRow the topmost that is shown
 */
function fillHeatmap(specification, numbers, widthPx, rowPx, firstRow) {
  const { heatmap, order, scale, range } = numbers;
  const { layout } = specification;
  const edges = findEdges(heatmap);
  const rows = order.map((_, i) => i);
  const cells = findTrace(specification, "heatmap");
  const colorscale = scale.name === "own" ? layout.meta.colorscale_own : moveBorder(layout.meta.colorscale, layout.meta.calm_share, scale.calm);
  const columnPx = (widthPx / Math.max(1, range[1] - range[0])) * heatmap.downsampled_by;
  const held = order.map((row) => holdRow(heatmap, row));
  const bad = held.map(({ isBad }) => isBad.map((cell) => (cell ? 1 : null)));
  Object.assign(cells, { x: edges, y: rows, z: held.map(({ values }) => colorRow(values, scale)), zmin: scale.low, zmax: scale.high, colorscale });
  const [bottom, top] = layout.yaxis3.domain;
  const heightPx = (top - bottom) * (layout.height - layout.margin.t - layout.margin.b);
  Object.assign(cells.colorbar, {
    y: (bottom + top) / 2, len: Math.min(220, heightPx), tickvals: scale.ticks, ticktext: scale.labels,
  });
  cells.showscale = heatmap.steps.length > 0;
  Object.assign(findTrace(specification, "heatmap_nonfinite"), { x: edges, y: rows, z: bad });
  const ticks = findTrace(specification, "captured");
  ticks.x = findCaptured(held, HELD_PX / columnPx).map((column) => ((edges[column] ?? 0) + (edges[column + 1] ?? 0)) / 2);
  ticks.y = ticks.x.map(() => firstRow - 0.5);

  const outlines = findTrace(specification, "missing");
  const marks = findTrace(specification, "nonfinite_mark");
  order.forEach((row, y) => {
    for (const [first, end] of findSpans(heatmap.missing[row] ?? [], (cell) => cell === 1)) {
      const [left, right] = [edges[first] ?? 0, edges[end] ?? 0];
      outlines.x.push(left, right, right, left, left, null);
      outlines.y.push(y - 0.5, y - 0.5, y + 0.5, y + 0.5, y - 0.5, null);
    }
    for (const [first, end] of findSpans(bad[y] ?? [], (cell) => cell !== null)) {
      const isSmall = (end - first) * columnPx < SMALL_CELL_PX || ((end - first) * columnPx < 12 && rowPx < SMALL_CELL_PX);
      if (!isSmall || marks.x.length >= MOST_MARKS) continue;
      marks.x.push(((edges[first] ?? 0) + (edges[end] ?? 0)) / 2);
      marks.y.push(y);
    }
  });
}

/**
 * @param {Specification} specification
 * @param {RunNumbers} numbers
 */
function fillLane(specification, { nonfinite }) {
  const trace = findTrace(specification, "lane");
  const { layout } = specification;
  trace.x = findEdges(nonfinite);
  trace.z = layout.meta.lanes.map((/** @type {"loss" | "gradient" | "update" | "weight"} */ lane) =>
    holdLane(nonfinite, lane).map((isBad) => (isBad ? 1 : null)),
  );
  const isCalm = trace.z.every((/** @type {(number | null)[]} */ row) => row.every((cell) => cell === null));
  layout.annotations.push({
      text: isCalm ? "NaN and Inf: none so far" : "NaN and Inf", xref: "paper", x: 0, xanchor: "left", yref: "paper",
      y: layout.yaxis4.domain[1], yanchor: "bottom", showarrow: false, font: { size: 10 }, yshift: -2,
  });
}

/**
 * Thins the layers' names so that none overlap; the picked one is always named, in bold.
 * @param {any} layout
 * @param {RunNumbers} numbers
 * @param {[number, number]} rows
 * @param {number} rowPx
 * @param {number} length most characters of a name
 */
function labelRows(layout, numbers, [first, end], rowPx, length) {
  const axis = layout.yaxis3;
  axis.range = [end - 0.5, first - 0.5];
  const tensors = numbers.order.map((row) => numbers.heatmap.tensors[row] ?? "");
  const picked = numbers.picked === null ? -1 : tensors.indexOf(numbers.picked);
  axis.tickvals = chooseLabels(first, end, rowPx, layout.meta.label_spacing_px, picked === -1 ? null : picked);
  axis.ticktext = axis.tickvals.map((/** @type {number} */ row) => {
    const text = escapeMarkup(shortenPath(tensors[row] ?? "", length));
    return row === picked ? `<b>${text}</b>` : text;
  });
  if (picked >= first && picked < end) {
    const color = layout.meta.picked;
    // A frame around a thin row would hide it, so a thin row gets a tick at its end.
    const shared = { xref: "paper", yref: "y3", layer: "above", line: { color, width: 1.5 } };
    if (rowPx >= 8) layout.shapes.push({ ...shared, type: "rect", x0: 0, x1: 1, y0: picked - 0.5, y1: picked + 0.5, line: { color, width: 1.2 } });
    else {
      layout.shapes.push({ ...shared, type: "line", x0: 1, x1: 1.012, y0: picked, y1: picked });
    }
  }
}

/**
 * @param {any} layout
 * @param {RunNumbers} numbers
 */
function markOnset(layout, { findings, told, range }) {
  const onset = findings.find(({ id }) => id === told);
  if (onset === undefined || onset.first < range[0] || onset.first >= range[1]) return;
  const x = onset.first - 0.5;
  const color = layout.meta.onset[onset.tone];
  layout.shapes.push({
    type: "line", xref: "x", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, layer: "above", line: { color, width: 1.4 },
  });
  const share = (onset.first - range[0]) / (range[1] - range[0]);
  if (share < 0.04) return; // the axis says it, and the loss is not to be covered
  layout.annotations.push({
    text: `step ${formatStep(onset.first)}`, xref: "x", x, xanchor: share > 0.5 ? "right" : "left", xshift: share > 0.5 ? -4 : 4,
    yref: "paper", y: 1, yanchor: "top", showarrow: false, font: { size: 11, color }, bgcolor: layout.hoverlabel.bgcolor, borderpad: 1,
  });
}
