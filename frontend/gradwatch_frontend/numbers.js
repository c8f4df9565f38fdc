/**
 * The numbers behind a run's charts: fetched for a range of steps, then kept up with the training by fetching only what is
 * new. Owns no drawing and no address.
 */

import { fetchHeatmap, fetchNonfinite, fetchSeries } from "./api.js";
import { dropEmptyNorms, mergeHeatmap, mergeNonfinite } from "./columns.js";
import { keepCaptured, mergeSeries } from "./series.js";

/** @typedef {import("./schema.js").Series} Series */
/** @typedef {import("./schema.js").Heatmap} Heatmap */
/** @typedef {import("./schema.js").Nonfinite} Nonfinite */
/** @typedef {{kind: string, statistic: string, from: number | null, to: number | null, columns: number}} View */

/** A live run's blocks may outgrow the screen by this much before they are fetched anew, evenly spaced. */
const SLACK = 1.5;
const POINTS = 600;
const PANEL_POINTS = 300;

/** The scalars above the heatmap, as the hook names them. */
export const LOSS = "loss";
const LEARNING_RATE = /^(learning_rate|lr)\b/;

export class RunNumbers {
  /** @type {Heatmap | null} */
  heatmap = null;
  /** @type {Nonfinite | null} */
  nonfinite = null;
  /** @type {Series | null} */
  loss = null;
  /** @type {Series | null} */
  rate = null;
  #id;
  /** @type {View | null} */
  #view = null;
  /** @type {string[]} */
  #scalars = [];
  #controller = new AbortController();

  /** @param {string} id of the run */
  constructor(id) {
    this.#id = id;
  }

  /**
   * Fetches everything for a view; a view asked for before and not yet there is given up.
   * @param {View} view
   * @param {string[]} scalars that the run has
   */
  async load(view, scalars) {
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    this.#view = view;
    this.#scalars = scalars;
    const { from, to, columns, kind, statistic } = view;
    const [heatmap, nonfinite, loss, rate] = await Promise.all([
      fetchHeatmap(this.#id, { kind, statistic, from, to, columns }, signal),
      fetchNonfinite(this.#id, { from, to, columns }, signal),
      this.#fetchScalar(LOSS, from, to, signal),
      this.#fetchScalar(this.#findRate(), from, to, signal),
    ]);
    Object.assign(this, { heatmap: dropEmptyNorms(heatmap), nonfinite, loss, rate });
  }

  /** @returns {string | null} the name of the learning rate among the scalars */
  #findRate() {
    return this.#scalars.find((name) => LEARNING_RATE.test(name)) ?? null;
  }

  /**
   * @param {string | null} name
   * @param {number | null} from
   * @param {number | null} to
   * @param {AbortSignal} signal
   * @returns {Promise<Series | null>}
   */
  async #fetchScalar(name, from, to, signal) {
    if (name === null || !this.#scalars.includes(name)) return null;
    return fetchSeries(this.#id, { tensor: name, kind: "scalar", from, to, points: POINTS }, signal);
  }

  /**
   * Catches up with a live run: only the open last column and what came after it.
   * @param {number} lastStep
   */
  async follow(lastStep) {
    const { heatmap, nonfinite, loss, rate } = this;
    const view = this.#view;
    if (view === null) return;
    const isGrown = heatmap === null || nonfinite === null || heatmap.steps.length === 0 || heatmap.steps.length > view.columns * SLACK;
    if (isGrown || (loss?.steps.length ?? 0) > POINTS * SLACK) return this.load(view, this.#scalars);
    const { signal } = this.#controller;
    const { kind, statistic } = view;
    const from = heatmap.steps[heatmap.steps.length - 1] ?? 0;
    const columns = Math.max(1, Math.ceil((lastStep + 1 - from) / heatmap.downsampled_by));
    const [newHeatmap, newNonfinite, newLoss, newRate] = await Promise.all([
      fetchHeatmap(this.#id, { kind, statistic, from, columns }, signal),
      fetchNonfinite(this.#id, { from: nonfinite.steps[nonfinite.steps.length - 1] ?? 0, columns }, signal),
      this.#followScalar(LOSS, loss, lastStep, signal),
      this.#followScalar(this.#findRate(), rate, lastStep, signal),
    ]);
    this.heatmap = mergeHeatmap(heatmap, dropEmptyNorms(newHeatmap));
    this.nonfinite = mergeNonfinite(nonfinite, newNonfinite);
    this.loss = newLoss;
    this.rate = newRate;
  }

  /**
   * @param {string | null} name
   * @param {Series | null} older
   * @param {number} lastStep
   * @param {AbortSignal} signal
   * @returns {Promise<Series | null>}
   */
  async #followScalar(name, older, lastStep, signal) {
    if (older === null || older.steps.length === 0) return this.#fetchScalar(name, this.#view?.from ?? null, null, signal);
    const from = older.steps[older.steps.length - 1] ?? 0;
    const points = Math.max(1, Math.ceil((lastStep + 1 - from) / older.downsampled_by));
    return mergeSeries(older, await fetchSeries(this.#id, { tensor: older.tensor, kind: "scalar", from, points }, signal));
  }

  /** Gives up what is under way. */
  close() {
    this.#controller.abort();
  }
}

/**
 * @typedef {object} TensorNumbers
 * @property {string} tensor
 * @property {string} kind
 * @property {Series} norm
 * @property {Series} min
 * @property {Series} max
 * @property {Series} mean
 * @property {Series} zeros count of exact zeros
 * @property {Series | null} ratio
 */

/**
 * Fetches the lines of one tensor.
 * @param {string} id of the run
 * @param {{tensor: string, kind: string, hasUpdate: boolean, from: number | null, to: number | null}} query
 * @param {AbortSignal} signal
 * @returns {Promise<TensorNumbers>}
 */
export async function fetchTensorNumbers(id, { tensor, kind, hasUpdate, from, to }, signal) {
  const fetch = async (/** @type {string} */ statistic, asKind = kind) =>
    keepCaptured(await fetchSeries(id, { tensor, kind: asKind, statistic, from, to, points: PANEL_POINTS }, signal));
  const [norm, min, max, mean, zeros, ratio] = await Promise.all([
    fetch("norm"),
    fetch("min"),
    fetch("max"),
    fetch("mean"),
    fetch("n_zero"),
    hasUpdate ? fetch("update_ratio", "update") : null,
  ]);
  return { tensor, kind, norm, min, max, mean, zeros, ratio };
}
