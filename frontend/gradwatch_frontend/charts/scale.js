/** From statistics to colours: logarithms, ranges that do not jump, ticks that can be read. Pure. */

import { findMedian } from "../columns.js";
import { formatDecade } from "../format.js";

/** @typedef {import("../schema.js").Heatmap} Heatmap */
/** @typedef {"log" | "own" | "share"} ScaleName */
/** @typedef {{name: ScaleName, low: number, high: number, ticks: number[], labels: string[]}} Scale */

/** The widest range that colours are spread over; a run that explodes to 1e30 must not make the rest one blue. */
const WIDEST_DECADES = 7;
const NARROWEST_DECADES = 2;
/** The blue part of the colours: nine tenths of all values shall lie in it. */
const CALM_SHARE = 0.7;
const OWN_DECADES = 2;

/**
 * Chooses the range of a logarithmic colour scale: from the small values to well above the usual ones, so that the warm
 * end of the colours is left to what has grown.
 * @param {Heatmap} heatmap
 * @returns {Scale}
 */
export function chooseScale(heatmap) {
  /** @type {number[]} */
  const logs = [];
  for (const row of heatmap.values) {
    for (const value of row) if (value !== null && value !== 0) logs.push(Math.log10(Math.abs(value)));
  }
  if (logs.length === 0) return makeLogScale(-3, 1);
  logs.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => /** @type {number} */ (logs[Math.min(logs.length - 1, Math.floor(share * logs.length))]);
  const low = roundHalf(at(0.02), Math.floor);
  const high = roundHalf(Math.max(at(1), low + (at(0.9) - low) / CALM_SHARE), Math.ceil);
  const top = Math.min(high, roundHalf(at(0.5) + 0.6 * WIDEST_DECADES, Math.ceil));
  const bottom = Math.max(Math.min(low, top - NARROWEST_DECADES), top - WIDEST_DECADES);
  return makeLogScale(bottom, top);
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
 * @returns {Scale}
 */
function makeLogScale(low, high) {
  const first = Math.ceil(low);
  const last = Math.floor(high);
  const stride = Math.max(1, Math.ceil((last - first) / 5));
  const ticks = [];
  for (let exponent = first; exponent <= last; exponent += stride) ticks.push(exponent);
  return { name: "log", low, high, ticks, labels: ticks.map(formatDecade) };
}

/** Colours relative to each row's own median. @type {Scale} */
export const OWN_SCALE = {
  name: "own",
  low: -OWN_DECADES,
  high: OWN_DECADES,
  ticks: [-2, -1, 0, 1, 2],
  labels: ["÷ 100", "÷ 10", "usual", "× 10", "× 100"],
};

/** Shares of zero: linear, 0 to 100 %. @type {Scale} */
export const SHARE_SCALE = { name: "share", low: 0, high: 1, ticks: [0, 0.5, 1], labels: ["0 %", "50 %", "100 %"] };

/**
 * Turns one row of values into what the colour scale takes. An exact zero gets the calmest colour.
 * @param {(number | null)[]} row
 * @param {Scale} scale
 * @param {number | null} [nElements] of the tensor, for shares
 * @returns {(number | null)[]}
 */
export function colorRow(row, scale, nElements = null) {
  if (scale.name === "share") return row.map((value) => (value === null || !nElements ? null : value / nElements));
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
