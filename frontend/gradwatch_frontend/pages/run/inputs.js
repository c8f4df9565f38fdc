/** What is known of an input's columns and rows, as small tables: which are broken, and, asked for, the range of each. */

import { h, svg } from "../../dom.js";
import { formatCount, formatNumber, formatPlural, formatShare, formatStep, formatStepRange } from "../../format.js";

/** @typedef {import("../../schema.js").InputColumns} InputColumns */
/** @typedef {{column: number, n: number, share: number}} BadColumn */

const MOST_COLUMNS = 8;
const MOST_STEPS = 5;
const BAR_WIDTH = 90;

/**
 * Finds the columns that held NaN or Inf, the worst first.
 * @param {InputColumns} columns
 * @returns {BadColumn[]}
 */
export function findBadColumns({ n_nonfinite, n_steps_nonfinite, n_steps }) {
  return n_nonfinite
    .map((n, column) => ({ column, n: n ?? 0, share: (n_steps_nonfinite[column] ?? 0) / Math.max(1, n_steps) }))
    .filter(({ n }) => n > 0)
    .sort((a, b) => b.n - a.n || a.column - b.column);
}

/**
 * Where an input is broken: its columns, and the rows of the newest batches that hold it.
 * @param {InputColumns} columns
 * @returns {HTMLElement}
 */
export function buildBroken(columns) {
  const bad = findBadColumns(columns);
  return h("section", { class: "inputs", "aria-label": `Where ${columns.tensor} is broken` },
    h("p", {}, h("b", {}, describeBroken(columns, bad.length))),
    h("div", { class: "input-tables" }, bad.length > 0 && buildBadColumns(bad), columns.rows.length > 0 && buildBadRows(columns.rows)));
}

/**
 * @param {InputColumns} columns
 * @param {number} nBad columns
 * @returns {string}
 */
export function describeBroken({ tensor, n_columns, n_steps, first_step, last_step, rows }, nBad) {
  const when = first_step === null || last_step === null ? "" : `, ${formatStepRange(first_step, last_step + 1)}`;
  if (n_columns === 0) return rows.length === 0 ? `${tensor}: everything finite${when}.` : `${tensor} held NaN or Inf${when}; it has too many columns to tell them apart.`;
  if (nBad === 0) return `${tensor}: all ${formatPlural(n_columns, "column")} finite in ${formatPlural(n_steps, "step")}${when}.`;
  return `${formatCount(nBad)} of ${formatPlural(n_columns, "column")} of ${tensor} held NaN or Inf${when}.`;
}

/** @param {BadColumn[]} bad */
function buildBadColumns(bad) {
  const rows = bad.slice(0, MOST_COLUMNS).map(({ column, n, share }) =>
    h("tr", {}, h("th", { scope: "row", class: "number" }, String(column)), h("td", { class: "bad number" }, formatCount(n)), h("td", { class: "number" }, formatShare(share))));
  const more = bad.length - rows.length;
  return h("table", { class: "small-table" },
    h("thead", {}, h("tr", {}, ["column", "NaN or Inf", "of steps"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, rows, more > 0 && h("tr", {}, h("td", { colspan: 3, class: "muted" }, `and ${formatPlural(more, "column")} more`))));
}

/** @param {InputColumns["rows"]} steps */
function buildBadRows(steps) {
  const hasWorkers = new Set(steps.map(({ worker }) => worker)).size > 1;
  const newest = [...steps].sort((a, b) => b.step - a.step).slice(0, MOST_STEPS);
  return h("table", { class: "small-table" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "step"), h("th", { scope: "col" }, "rows of the batch"))),
    h("tbody", {}, newest.map(({ step, worker, rows, n_rows }) =>
      h("tr", {}, h("th", { scope: "row", class: "number" }, formatStep(step), hasWorkers && h("span", { class: "muted" }, ` worker ${worker}`)), h("td", { class: "number" }, describeRows(rows, n_rows))))));
}

/**
 * @param {number[]} rows
 * @param {number} n how many there are in truth
 * @returns {string}
 */
export function describeRows(rows, n) {
  const more = n - rows.length;
  return rows.map(String).join(", ") + (more > 0 ? ` and ${formatCount(more)} more` : "");
}

/**
 * The range of every column, drawn on one axis that is linear around 0 and logarithmic far from it.
 * @param {InputColumns} columns
 * @returns {HTMLElement}
 */
export function buildRanges({ n_columns, n_nonfinite, min, max }) {
  if (n_columns === 0) return h("p", { class: "muted" }, "It has too many columns to tell them apart.");
  const place = (/** @type {number} */ value) => Math.asinh(value);
  const known = [...min, ...max].filter((value) => value !== null).map(place);
  const low = known.reduce((a, b) => Math.min(a, b), 0);
  const span = known.reduce((a, b) => Math.max(a, b), 0) - low || 1;
  const x = (/** @type {number} */ value) => ((place(value) - low) / span) * BAR_WIDTH;
  const rows = Array.from({ length: n_columns }, (_, column) => {
    const [least, most] = [min[column] ?? null, max[column] ?? null];
    const bar = least === null || most === null ? null : svg("svg", { class: "range", width: BAR_WIDTH, height: 10, "aria-hidden": "true" },
      svg("line", { x1: x(0), x2: x(0), y1: 0, y2: 10 }), svg("rect", { x: x(least), width: Math.max(2, x(most) - x(least)), y: 3, height: 4 }));
    return h("tr", {},
      h("th", { scope: "row", class: `number ${n_nonfinite[column] ? "bad" : ""}` }, String(column)),
      h("td", { class: "number" }, formatNumber(least)), h("td", {}, bar), h("td", { class: "number" }, formatNumber(most)));
  });
  return h("div", { class: "scroll ranges" }, h("table", { class: "small-table" },
    h("thead", {}, h("tr", {}, ["column", "least", "", "largest"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows)));
}
