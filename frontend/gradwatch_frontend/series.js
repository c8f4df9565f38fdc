/** Series of one number over steps, as the browser keeps them: deltas merged, places found. No request. */

/** @typedef {import("./schema.js").Series} Series */

/**
 * Adds newer points to a series. From the first step of the newer part on, the newer part holds: the last bucket of the
 * older one was still open.
 * @param {Series} older
 * @param {Series} newer
 * @returns {Series}
 */
export function mergeSeries(older, newer) {
  const first = newer.steps[0];
  if (first === undefined) return older;
  let n = older.steps.length;
  while (n > 0 && /** @type {number} */ (older.steps[n - 1]) >= first) n -= 1;
  /** @type {<T>(a: T[], b: T[]) => T[]} */
  const join = (a, b) => a.slice(0, n).concat(b);
  return {
    ...newer,
    steps: join(older.steps, newer.steps),
    min: join(older.min, newer.min),
    mean: join(older.mean, newer.mean),
    max: join(older.max, newer.max),
    n_nonfinite: join(older.n_nonfinite, newer.n_nonfinite),
    times: join(older.times, newer.times),
    state: join(older.state, newer.state),
    downsampled_by: Math.max(older.downsampled_by, newer.downsampled_by),
  };
}

/**
 * Keeps the points at which something was captured: a costly statistic is not at every step. A point that was not finite stays,
 * without a number, and so breaks a line.
 * @param {Series} series
 * @returns {Series}
 */
export function keepCaptured(series) {
  const isKept = series.steps.map((_, i) => series.mean[i] !== null || (series.n_nonfinite[i] ?? 0) > 0);
  /** @type {<T>(list: T[]) => T[]} */
  const pick = (list) => list.filter((_, i) => isKept[i]);
  // A tensor without a finite element has the norm 0, which is no number of its own.
  const blank = (/** @type {(number | null)[]} */ list) => list.map((value, i) => (value === 0 && series.n_nonfinite[i] ? null : value));
  return {
    ...series,
    steps: pick(series.steps),
    min: pick(blank(series.min)),
    mean: pick(blank(series.mean)),
    max: pick(blank(series.max)),
    n_nonfinite: pick(series.n_nonfinite),
    times: pick(series.times),
    state: pick(series.state),
  };
}

/**
 * Divides a count by the number of elements, where both are known.
 * @param {Series} counts
 * @param {Series} sizes
 * @returns {Series}
 */
export function divideSeries(counts, sizes) {
  const places = new Map(sizes.steps.map((step, i) => [step, i]));
  const divide = (/** @type {(number | null)[]} */ values) =>
    values.map((value, i) => {
      const whole = sizes.mean[places.get(counts.steps[i] ?? -1) ?? -1] ?? null;
      return value === null || whole === null || whole === 0 ? null : value / whole;
    });
  return { ...counts, min: divide(counts.min), mean: divide(counts.mean), max: divide(counts.max) };
}

/**
 * Finds the point at or before a step.
 * @param {number[]} steps ascending
 * @param {number} step
 * @returns {number} its index, or -1
 */
export function findStep(steps, step) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {number} */ (steps[middle]) <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Finds the last value that is a number.
 * @param {(number | null)[]} values
 * @returns {number | null}
 */
export function lastNumber(values) {
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}
