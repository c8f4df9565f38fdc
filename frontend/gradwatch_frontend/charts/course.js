/** The course of one number as a small drawing beside others on the same steps: a logarithmic line, NaN and Inf as a bar. */

import { findSpans } from "../columns.js";
import { svg } from "../dom.js";

/** @typedef {import("../schema.js").Series} Series */

const WIDTH = 104;
const HEIGHT = 20;
const BAR = 4;

/**
 * Draws a series that is kept where it was captured.
 * @param {Series} series
 * @param {[number, number]} range first step and end
 * @returns {SVGElement}
 */
export function drawCourse(series, [first, end]) {
  const { points, bars } = traceCourse(series, [first, end]);
  return svg("svg", { class: "course", width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
    points.map((line) => svg("polyline", { points: line.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ") })),
    bars.map(([left, right]) => svg("rect", { x: left.toFixed(1), y: 0, width: Math.max(2, right - left).toFixed(1), height: BAR })));
}

/**
 * Where the line and the bars go, in pixels.
 * @param {Series} series
 * @param {[number, number]} range
 * @returns {{points: [number, number][][], bars: [number, number][]}}
 */
export function traceCourse({ steps, mean, n_nonfinite }, [first, end]) {
  const x = (/** @type {number} */ step) => ((step - first) / Math.max(1, end - first)) * WIDTH;
  const levels = mean.map((value) => (value !== null && value > 0 ? Math.log10(value) : null));
  const known = levels.filter((level) => level !== null);
  const low = known.reduce((a, b) => Math.min(a, b), Infinity);
  // Below a third of a decade a wiggle is no news.
  const span = Math.max(known.reduce((a, b) => Math.max(a, b), -Infinity) - low, 0.35);
  const y = (/** @type {number} */ level) => HEIGHT - 2 - ((level - low) / span) * (HEIGHT - BAR - 3);
  const points = findSpans(levels, (level) => level !== null).map(([from, to]) => {
    const line = /** @type {[number, number][]} */ (levels.slice(from, to).map((level, i) => [x(steps[from + i] ?? 0), y(level ?? 0)]));
    return line.length === 1 && line[0] ? [line[0], /** @type {[number, number]} */ ([line[0][0] + 2, line[0][1]])] : line;
  });
  const bars = findSpans(n_nonfinite, (n) => (n ?? 0) > 0).map(([from, to]) => /** @type {[number, number]} */ ([x(steps[from] ?? 0), x(steps[to] ?? end)]));
  return { points, bars };
}
