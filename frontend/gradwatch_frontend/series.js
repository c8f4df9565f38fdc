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
