/**
 * Sparklines of the list of runs. A list has hundreds of them, so they are plain SVG; sizes and colours come from the
 * figure's specification.
 */

import { svg } from "../dom.js";
import { findTrace } from "./plot.js";

/**
 * Draws one line.
 * @param {import("./plot.js").Specification} specification of the figure "sparkline"
 * @param {"loss" | "gradient_norm"} role
 * @param {(number | null)[]} values
 * @param {(string | null)[]} states of a scalar, where it has no number
 * @param {string} label for a screen reader
 * @returns {SVGElement}
 */
export function drawSparkline(specification, role, values, states, label) {
  const { layout } = specification;
  const { width, height, margin } = layout;
  const isLog = role === "gradient_norm" && layout.yaxis2.type === "log";
  const levels = values.map((value) => (value === null || (isLog && value <= 0) ? null : isLog ? Math.log10(value) : value));
  const known = levels.filter((level) => level !== null);
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  const stride = (width - margin.l - margin.r) / Math.max(1, values.length - 1);
  const x = (/** @type {number} */ i) => (margin.l + i * stride).toFixed(1);
  const inner = height - margin.t - margin.b;
  const y = (/** @type {number} */ level) => (margin.t + (span > 0 ? 1 - (level - low) / span : 0.5) * inner).toFixed(1);
  const { line } = findTrace(specification, role);
  const image = svg("svg", { class: "sparkline", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const points of splitAtGaps(levels)) {
    const path = points.map(([i, level]) => `${x(i)},${y(level)}`).join(" ");
    image.append(svg("polyline", { points: points.length === 1 ? `${path} ${path}` : path, fill: "none", stroke: line.color, "stroke-width": line.width, "stroke-linejoin": "round", "stroke-linecap": "round" }));
  }
  const { color, size } = findTrace(specification, "loss_nonfinite").marker;
  states.forEach((state, i) => {
    if (state !== null) image.append(svg("circle", { cx: x(i), cy: margin.t + size / 2, r: size / 2, fill: color }));
  });
  return image;
}

/**
 * @param {(number | null)[]} levels
 * @returns {[number, number][][]} runs of points without a gap
 */
function splitAtGaps(levels) {
  /** @type {[number, number][][]} */
  const parts = [];
  let isOpen = false;
  levels.forEach((level, i) => {
    if (level === null) isOpen = false;
    else if (isOpen) parts[parts.length - 1]?.push([i, level]);
    else {
      parts.push([[i, level]]);
      isOpen = true;
    }
  });
  return parts;
}
