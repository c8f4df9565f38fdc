/** From statistics to colours: logarithms, ranges that do not jump, ticks that can be read. Pure. */

import { findMedian } from "../columns.js";
import { formatDecade, formatNumber } from "../format.js";

/** @typedef {import("../schema.js").Heatmap} Heatmap */
/** @typedef {"log" | "own" | "share"} ScaleName */
/**
 * @typedef {{name: ScaleName, low: number, high: number, calm: number | null, ticks: number[], labels: string[]}} Scale
 *   `calm` is where, between 0 and 1, the warm colours begin; null leaves the colours as specified
 */

/** The widest range that colours are spread over; a run that explodes to 1e30 must not make the rest one blue. */
const WIDEST_DECADES = 7;
const NARROWEST_DECADES = 2;
/** A value is calm up to two and a half times what is usual in the largest layer; from there on colours are warm. */
const CALM_DECADES = 0.4;
/** Neither the cool nor the warm part of the colours may vanish. */
const CALM_PART = { least: 0.35, most: 0.82 };
const OWN_DECADES = 2;

/** A heatmap is drawn many times between two fetches. @type {WeakMap<object, Scale>} */
const scales = new WeakMap();

/**
 * Chooses a logarithmic colour scale: cool for what is usual anywhere in the run, warm for what lies above that.
 * @param {Heatmap} heatmap
 * @returns {Scale}
 */
export function chooseScale(heatmap) {
  const scale = scales.get(heatmap) ?? computeScale(heatmap);
  scales.set(heatmap, scale);
  return scale;
}

/**
 * @param {Heatmap} heatmap
 * @returns {Scale}
 */
function computeScale(heatmap) {
  /** @type {number[]} */
  const found = [];
  let usual = Number.NEGATIVE_INFINITY;
  for (const row of heatmap.values) {
    for (const value of row) if (value !== null && value !== 0) found.push(Math.log10(Math.abs(value)));
    const median = findMedian(row);
    if (median !== null && median > 0) usual = Math.max(usual, Math.log10(median));
  }
  if (found.length === 0) return makeLogScale(-3, 1, -1);
  const logs = Float64Array.from(found).sort();
  const least = /** @type {number} */ (logs[Math.floor(0.02 * logs.length)]);
  const largest = /** @type {number} */ (logs[logs.length - 1]);
  const warm = (Number.isFinite(usual) ? usual : largest) + CALM_DECADES;
  const high = roundHalf(Math.min(Math.max(largest, warm + 1), warm + WIDEST_DECADES / 2), Math.ceil);
  const low = Math.max(Math.min(roundHalf(least, Math.floor), high - NARROWEST_DECADES), high - WIDEST_DECADES);
  return makeLogScale(low, high, warm);
}

/**
 * @param {number} value
 * @param {(value: number) => number} round
 * @returns {number} the next half
 */
const roundHalf = (value, round) => round(value * 2) / 2;

/**
 * @param {number} low
 * @param {number} high
 * @param {number} warm where the warm colours begin
 * @returns {Scale}
 */
function makeLogScale(low, high, warm) {
  const first = Math.ceil(low);
  const last = Math.floor(high);
  const stride = Math.max(1, Math.ceil((last - first) / 5));
  const ticks = [];
  for (let exponent = first; exponent <= last; exponent += stride) ticks.push(exponent);
  const calm = Math.min(CALM_PART.most, Math.max(CALM_PART.least, (warm - low) / (high - low)));
  return { name: "log", low, high, calm, ticks, labels: ticks.map(formatDecade) };
}

/** Colours relative to each row's own median. @type {Scale} */
export const OWN_SCALE = {
  name: "own",
  low: -OWN_DECADES,
  high: OWN_DECADES,
  calm: null,
  ticks: [-2, -1, 0, 1, 2],
  labels: ["÷ 100", "÷ 10", "usual", "× 10", "× 100"],
};

/** Shares of zero: linear, 0 to 100 %. @type {Scale} */
export const SHARE_SCALE = { name: "share", low: 0, high: 1, calm: null, ticks: [0, 0.5, 1], labels: ["0 %", "50 %", "100 %"] };

/**
 * Turns one row of values into what the colour scale takes. An exact zero gets the calmest colour.
 * @param {(number | null)[]} row
 * @param {Scale} scale
 * @returns {(number | null)[]}
 */
export function colorRow(row, scale) {
  if (scale.name === "share") return row;
  const usual = scale.name === "own" ? findMedian(row) : 1;
  if (usual === null) return row.map(() => null);
  const shift = usual > 0 ? Math.log10(usual) : 0;
  return row.map((value) => {
    if (value === null) return null;
    if (value === 0) return scale.low;
    return Math.min(scale.high, Math.max(scale.low, Math.log10(Math.abs(value)) - shift));
  });
}

/**
 * Moves the border between cool and warm colours to where this run has it.
 * @param {[number, string][]} colors
 * @param {number} border where the specification has it
 * @param {number | null} calm where it shall be
 * @returns {[number, string][]}
 */
export function moveBorder(colors, border, calm) {
  if (calm === null) return colors;
  return colors.map(([at, color]) => [at <= border ? (at / border) * calm : 1 - ((1 - at) / (1 - border)) * (1 - calm), color]);
}

/** Two ticks of an axis stand at least this share of it apart. */
const TICK_SHARE = 0.17;

/**
 * Chooses ticks of a logarithmic axis: decades, or 1, 2 and 5 of each where there are few of them.
 * @param {(number | null)[]} values
 * @param {number} most
 * @returns {{tickmode: "array", tickvals: number[], ticktext: string[]} | null} null without a positive value
 */
export function chooseLogTicks(values, most = 4) {
  const known = values.filter((value) => value !== null && value > 0).map((value) => Math.log10(/** @type {number} */ (value)));
  if (known.length === 0) return null;
  const low = known.reduce((a, b) => Math.min(a, b)) - 0.05;
  const high = known.reduce((a, b) => Math.max(a, b)) + 0.05;
  for (const mantissas of [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]]) {
    /** @type {number[]} */
    const ticks = [];
    for (let exponent = Math.floor(low); exponent <= high; exponent += 1) {
      for (const mantissa of mantissas) {
        const at = exponent + Math.log10(mantissa);
        if (at >= low && at <= high) ticks.push(at);
      }
    }
    const isClear = ticks.every((tick, i) => i === 0 || tick - (ticks[i - 1] ?? 0) >= TICK_SHARE * (high - low));
    if (isClear && ticks.length <= most && ticks.length > 0) return makeTicks(ticks);
  }
  if (high - low < 1) return makeTicks([(low + high) / 2]);
  const stride = Math.ceil((high - low) / most);
  const ticks = [];
  for (let exponent = Math.ceil(low); exponent <= high; exponent += stride) ticks.push(exponent);
  return makeTicks(ticks);
}

/**
 * @param {number[]} logs
 * @returns {{tickmode: "array", tickvals: number[], ticktext: string[]}}
 */
function makeTicks(logs) {
  const tickvals = logs.map((log) => Number((10 ** log).toPrecision(2)));
  return { tickmode: "array", tickvals, ticktext: tickvals.map((value) => formatNumber(value, 2)) };
}

/**
 * An axis that is linear around 0 and logarithmic far from it, so that a range of elements can be seen before and after
 * it explodes: asinh(value / unit).
 * @param {(number | null)[]} values
 * @returns {{place: (value: number | null) => number | null, axis: object}}
 */
export function makeSymmetricAxis(values) {
  const unit = findMedian(values.filter((value) => value !== 0)) ?? 1;
  const top = values.reduce((/** @type {number} */ most, value) => Math.max(most, Math.abs(value ?? 0)), unit);
  const place = (/** @type {number | null} */ value) => (value === null ? null : Math.asinh(value / unit));
  const decade = 10 ** Math.floor(Math.log10(top));
  const tick = (top >= 5 * decade ? 5 : top >= 2 * decade ? 2 : 1) * decade;
  const ticks = [-tick, 0, tick];
  const edge = /** @type {number} */ (place(top)) * 1.08;
  return {
    place,
    axis: { range: [-edge, edge], tickmode: "array", tickvals: ticks.map(place), ticktext: ticks.map((value) => formatNumber(value, 1)) },
  };
}

/**
 * Chooses which rows get a label: every nth, so that no two overlap; the picked row always has one, and its neighbours
 * give way.
 * @param {number} first row at the top
 * @param {number} end exclusive
 * @param {number} rowPx height of a row
 * @param {number} spacingPx least distance of two labels
 * @param {number | null} picked
 * @returns {number[]} row numbers
 */
export function chooseLabels(first, end, rowPx, spacingPx, picked) {
  const stride = Math.max(1, Math.ceil(spacingPx / rowPx));
  const rows = [];
  const clearance = spacingPx / rowPx;
  const isInside = picked !== null && picked >= first && picked < end;
  for (let row = Math.ceil(first / stride) * stride; row < end; row += stride) {
    if (isInside && row !== picked && Math.abs(row - picked) < clearance) continue;
    rows.push(row);
  }
  if (isInside && !rows.includes(picked)) rows.push(picked);
  return rows.sort((a, b) => a - b);
}
