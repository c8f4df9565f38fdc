/** Blocks of columns over steps (heatmap and non-finite lanes), as the browser keeps them: deltas merged, rows ordered. */

/** @typedef {import("./schema.js").Heatmap} Heatmap */
/** @typedef {import("./schema.js").Nonfinite} Nonfinite */

const LANES = /** @type {const} */ (["gradient", "weight", "update", "loss"]);

/**
 * Counts the columns that begin before a step.
 * @param {number[]} steps
 * @param {number | undefined} step
 * @returns {number}
 */
function countBefore(steps, step) {
  if (step === undefined) return steps.length;
  let n = steps.length;
  while (n > 0 && /** @type {number} */ (steps[n - 1]) >= step) n -= 1;
  return n;
}

/**
 * Adds newer columns; from the newer part's first step on, the newer part holds. A tensor that appeared since is added.
 * @param {Heatmap} older
 * @param {Heatmap} newer
 * @returns {Heatmap}
 */
export function mergeHeatmap(older, newer) {
  if (newer.steps.length === 0) return older;
  const n = countBefore(older.steps, newer.steps[0]);
  const rows = new Map(older.tensors.map((tensor, i) => [tensor, i]));
  /**
   * @param {(number | null)[][]} before
   * @param {(number | null)[][]} after
   * @param {number | null} blank
   */
  const join = (before, after, blank) =>
    newer.tensors.map((tensor, i) => {
      const row = rows.get(tensor);
      const left = row === undefined ? new Array(n).fill(blank) : (before[row] ?? []).slice(0, n);
      return left.concat(after[i] ?? []);
    });
  return {
    ...newer,
    steps: older.steps.slice(0, n).concat(newer.steps),
    values: join(older.values, newer.values, null),
    n_nonfinite: join(older.n_nonfinite, newer.n_nonfinite, 0),
    missing: join(older.missing, newer.missing, 0),
    downsampled_by: Math.max(older.downsampled_by, newer.downsampled_by),
  };
}

/**
 * @param {Nonfinite} older
 * @param {Nonfinite} newer
 * @returns {Nonfinite}
 */
export function mergeNonfinite(older, newer) {
  if (newer.steps.length === 0) return older;
  const n = countBefore(older.steps, newer.steps[0]);
  const merged = { ...newer, steps: older.steps.slice(0, n).concat(newer.steps) };
  for (const lane of LANES) merged[lane] = older[lane].slice(0, n).concat(newer[lane]);
  return merged;
}

/**
 * The edges of columns: half a step before each first step, so that a cell and a point of the same step share a centre.
 *
 * Of evenly spaced columns the last one is as wide as the others, also while it fills: Plotly draws even columns many times
 * faster, and the axis ends where the steps end anyway.
 * @param {{steps: number[], step_end: number}} block
 * @returns {number[]} one more than columns
 */
export function findEdges({ steps, step_end }) {
  const width = (steps[1] ?? step_end) - (steps[0] ?? 0);
  const last = steps[steps.length - 1] ?? 0;
  const isEven = steps.every((step, i) => i === 0 || step - (steps[i - 1] ?? 0) === width);
  return [...steps.map((step) => step - 0.5), (isEven ? Math.max(step_end, last + width) : step_end) - 0.5];
}

/**
 * Takes away the norm 0 of a tensor without any finite element: it is no small norm.
 * @param {Heatmap} heatmap
 * @returns {Heatmap}
 */
export function dropEmptyNorms(heatmap) {
  const values = heatmap.values.map((row, i) => {
    const counts = heatmap.n_nonfinite[i] ?? [];
    return counts.some(Boolean) ? row.map((value, j) => (value === 0 && counts[j] ? null : value)) : row;
  });
  return { ...heatmap, values };
}

/**
 * @typedef {object} HeldRow a row as it is drawn
 * @property {(number | null)[]} values
 * @property {boolean[]} isBad
 * @property {boolean[]} isHeld whether what stands there was captured at an earlier column
 */

/**
 * Where a costly statistic was not captured at every step, holds what was captured last until the next time, so that a calm row
 * looks calm and a broken one broken. Nothing is invented before the first value, nor where there are no rows at all.
 * @param {Heatmap} heatmap
 * @param {number} row
 * @returns {HeldRow}
 */
export function holdRow(heatmap, row) {
  const values = heatmap.values[row] ?? [];
  const counts = heatmap.n_nonfinite[row] ?? [];
  const missing = heatmap.missing[row] ?? [];
  /** @type {HeldRow} */
  const held = { values: values.slice(), isBad: new Array(values.length).fill(false), isHeld: new Array(values.length).fill(false) };
  /** @type {number | null} */
  let last = null;
  let wasBad = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? null;
    const count = counts[i] ?? null;
    // The counts of gradients are taken at every step: without one there was no row.
    const isHole = heatmap.kind === "gradient" && count === null;
    if (count !== null) wasBad = count > 0;
    if (value !== null || missing[i] || (count ?? 0) > 0 || isHole) last = value;
    if (missing[i] || isHole) wasBad = false;
    held.isBad[i] = wasBad;
    held.values[i] = last;
    held.isHeld[i] = (value === null && last !== null) || (wasBad && count === null);
  }
  return held;
}

/**
 * A lane as it is drawn: what a kind was when last captured stands until the next time, but not where there are no rows at all.
 * @param {Nonfinite} nonfinite
 * @param {(typeof LANES)[number]} lane
 * @returns {boolean[]} whether it was not finite
 */
export function holdLane(nonfinite, lane) {
  let wasBad = false;
  return nonfinite[lane].map((count, i) => {
    if (count !== null) wasBad = count > 0;
    else if (nonfinite.gradient[i] === null) wasBad = false;
    return wasBad;
  });
}

/**
 * Finds the columns in which something was captured, where it then stands for a long stretch that was not.
 * @param {HeldRow[]} rows
 * @param {number} long columns
 * @returns {number[]} none where no stretch is so long
 */
export function findCaptured(rows, long) {
  const n = rows[0]?.values.length ?? 0;
  const columns = Array.from({ length: n }, (_, i) => i);
  const isCaptured = columns.map((i) => rows.some(({ values, isBad, isHeld }) => !isHeld[i] && (values[i] !== null || isBad[i])));
  const isSparse = findSpans(columns.map((i) => rows.some(({ isHeld }) => isHeld[i]) && !isCaptured[i]), Boolean).some(([first, end]) => end - first >= long);
  return isSparse ? columns.filter((i) => isCaptured[i]) : [];
}

/** What the shares are of, as the server counts them. @type {Record<string, string>} */
export const SHARES = { zero_share: "n_zero", saturated_share: "n_saturated" };

/**
 * Divides a count by the number of elements, column by column; a column that only one of the two has stays without a value.
 * @param {Heatmap} counts
 * @param {Heatmap} sizes of the statistic `n_elements`
 * @param {string} statistic the share's name
 * @returns {Heatmap}
 */
export function divideHeatmap(counts, sizes, statistic) {
  const columns = new Map(sizes.steps.map((step, i) => [step, i]));
  const rows = new Map(sizes.tensors.map((tensor, i) => [tensor, i]));
  const values = counts.tensors.map((tensor, row) => {
    const size = sizes.values[rows.get(tensor) ?? -1] ?? [];
    return (counts.values[row] ?? []).map((count, i) => {
      const whole = size[columns.get(counts.steps[i] ?? -1) ?? -1] ?? null;
      return count === null || whole === null || whole === 0 ? null : count / whole;
    });
  });
  return { ...counts, statistic, values };
}

/**
 * Orders tensors by trouble: first those that were non-finite, the earliest first; then those without a gradient; then by how
 * far the last tenth of their values lies from their own median; the calm ones by depth.
 * @param {Heatmap} heatmap in order of depth
 * @returns {number[]} row numbers, worst first
 */
export function orderByTrouble(heatmap) {
  const trouble = heatmap.tensors.map((_, row) => {
    const onset = (heatmap.n_nonfinite[row] ?? []).findIndex((count) => (count ?? 0) > 0);
    const isMissing = (heatmap.missing[row] ?? []).includes(1);
    return { row, onset: onset === -1 ? heatmap.steps.length : onset, isMissing, drift: findDrift(heatmap.values[row] ?? []) };
  });
  trouble.sort((a, b) => a.onset - b.onset || Number(b.isMissing) - Number(a.isMissing) || b.drift - a.drift || a.row - b.row);
  return trouble.map(({ row }) => row);
}

/**
 * Decades between what is usual in a row and its last tenth, in tenths: less is no trouble.
 * @param {(number | null)[]} values
 * @returns {number}
 */
function findDrift(values) {
  const known = values.filter((value) => value !== null && value !== 0);
  const usual = findMedian(known);
  const recent = findMedian(known.slice(-Math.max(1, Math.floor(known.length / 10))));
  return usual === null || recent === null ? 0 : Math.round(Math.abs(Math.log10(recent / usual)) * 10);
}

/**
 * Finds the median of the numbers in a row, without their signs.
 * @param {(number | null)[]} values
 * @returns {number | null}
 */
export function findMedian(values) {
  const sizes = Float64Array.from(values.filter((value) => value !== null), Math.abs).sort();
  return sizes[sizes.length >> 1] ?? null;
}

/**
 * Runs of adjacent columns where a row's cells hold.
 * @template T
 * @param {T[]} row
 * @param {(cell: T) => boolean} holds
 * @returns {[number, number][]} first column and end (exclusive) of each
 */
export function findSpans(row, holds) {
  /** @type {[number, number][]} */
  const spans = [];
  let first = -1;
  for (let i = 0; i <= row.length; i++) {
    const inside = i < row.length && holds(/** @type {T} */ (row[i]));
    if (inside && first === -1) first = i;
    if (!inside && first !== -1) {
      spans.push([first, i]);
      first = -1;
    }
  }
  return spans;
}
