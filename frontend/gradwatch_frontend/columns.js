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
 * Where a costly statistic was not captured at every step, holds the last captured value until the next one, so that a calm
 * row looks calm. What is not finite or missing ends it, and nothing is invented before the first value.
 * @param {Heatmap} heatmap
 * @param {number} row
 * @returns {(number | null)[]}
 */
export function holdValues(heatmap, row) {
  const values = heatmap.values[row] ?? [];
  if (!values.includes(null)) return values;
  const counts = heatmap.n_nonfinite[row] ?? [];
  const missing = heatmap.missing[row] ?? [];
  /** @type {number | null} */
  let last = null;
  return values.map((value, i) => {
    last = counts[i] || missing[i] ? value : (value ?? last);
    return last;
  });
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
 * @param {(number | null)[]} row
 * @param {(cell: number | null) => boolean} holds
 * @returns {[number, number][]} first column and end (exclusive) of each
 */
export function findSpans(row, holds) {
  /** @type {[number, number][]} */
  const spans = [];
  let first = -1;
  for (let i = 0; i <= row.length; i++) {
    const inside = i < row.length && holds(row[i] ?? null);
    if (inside && first === -1) first = i;
    if (!inside && first !== -1) {
      spans.push([first, i]);
      first = -1;
    }
  }
  return spans;
}
