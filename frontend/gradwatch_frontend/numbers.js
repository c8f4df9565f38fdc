/**
 * The numbers behind a run's charts: fetched for a range of steps, then kept up with the training by fetching only what is
 * new. Owns no drawing and no address.
 */

import { fetchHeatmap, fetchNonfinite, fetchSeries } from "./api.js";
import { SHARES, divideHeatmap, dropEmptyNorms, mergeHeatmap, mergeNonfinite } from "./columns.js";
import { divideSeries, keepCaptured, mergeSeries } from "./series.js";

/** @typedef {import("./schema.js").Series} Series */
/** @typedef {import("./schema.js").Heatmap} Heatmap */
/** @typedef {import("./schema.js").Nonfinite} Nonfinite */
/** @typedef {{worker: number | null, replica: number | null}} Part null: all of them */
/** @typedef {{kind: string, statistic: string, from: number | null, to: number | null, columns: number} & Part} View */

/** A live run's blocks may outgrow the screen by this much before they are fetched anew, evenly spaced. */
const SLACK = 1.5;
const POINTS = 600;
const PANEL_POINTS = 300;
const COURSE_POINTS = 120;
/** Beside these the update ratio is drawn. */
const HAS_RATIO = new Set(["gradient", "weight", "update"]);

/** The scalars above the heatmap, as the hook names them. */
export const LOSS = "loss";
const VALIDATION_LOSS = "val_loss";
const LEARNING_RATE = /^(learning_rate|lr)\b/;
export const CORRELATION = "target_correlation";
/** How far a linear fit of the same inputs follows the first target. */
export const LINEAR_FIT = "linear_fit";
/** Of more targets than this the others' lines would hide one another. */
const CORRELATIONS_MOST = 4;

export class RunNumbers {
  /** @type {Heatmap | null} */
  heatmap = null;
  /** @type {Nonfinite | null} */
  nonfinite = null;
  /** @type {Series | null} */
  loss = null;
  /** @type {Series | null} of Keras' `fit` with validation data */
  validation = null;
  /** @type {Series | null} */
  rate = null;
  /** @type {Series[]} how far outputs follow each target, and perhaps a linear fit */
  correlations = [];
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
    const { from, to, columns, worker } = view;
    const [heatmap, nonfinite, loss, validation, rate, ...correlations] = await Promise.all([
      this.#fetchHeatmap(view, { from, to, columns }, signal),
      fetchNonfinite(this.#id, { from, to, columns, worker }, signal),
      this.#fetchScalar(LOSS, from, to, signal),
      this.#fetchScalar(VALIDATION_LOSS, from, to, signal),
      this.#fetchScalar(this.#findRate(), from, to, signal),
      ...this.#findCorrelations().map((name) => this.#fetchScalar(name, from, to, signal)),
    ]);
    Object.assign(this, { heatmap, nonfinite, loss, validation, rate, correlations: correlations.filter(isThere) });
  }

  /**
   * @param {View} view
   * @param {{from: number | null, to?: number | null, columns: number}} place
   * @param {AbortSignal} signal
   * @returns {Promise<Heatmap>}
   */
  async #fetchHeatmap({ kind, statistic, worker, replica }, place, signal) {
    const fetch = (/** @type {string} */ name) => fetchHeatmap(this.#id, { kind, statistic: name, worker, replica, ...place }, signal);
    const counted = SHARES[statistic];
    if (counted === undefined) return dropEmptyNorms(await fetch(statistic));
    const [counts, sizes] = await Promise.all([fetch(counted), fetch("n_elements")]);
    return divideHeatmap(counts, sizes, statistic);
  }

  get #part() {
    return { worker: this.#view?.worker ?? null, replica: this.#view?.replica ?? null };
  }

  /** @returns {string | null} the name of the learning rate among the scalars */
  #findRate() {
    return this.#scalars.find((name) => LEARNING_RATE.test(name)) ?? null;
  }

  /**
   * @returns {string[]} what tells how far outputs follow each target; not that of single streams, `NAME@OPTIMIZER`; of a
   *   single target how far a linear fit does, too
   */
  #findCorrelations() {
    const names = this.#scalars.filter((name) => name.startsWith(CORRELATION) && !name.includes("@"));
    const hasFit = names.length === 1 && this.#scalars.includes(LINEAR_FIT);
    return hasFit ? [...names, LINEAR_FIT] : names.slice(0, CORRELATIONS_MOST);
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
    return fetchSeries(this.#id, { tensor: name, kind: "scalar", from, to, points: POINTS, ...this.#part }, signal);
  }

  /**
   * Catches up with a live run: only the open last column and what came after it.
   * @param {number} lastStep
   */
  async follow(lastStep) {
    const { heatmap, nonfinite, loss, validation, rate, correlations } = this;
    const view = this.#view;
    if (view === null) return;
    const isGrown = heatmap === null || nonfinite === null || heatmap.steps.length === 0 || heatmap.steps.length > view.columns * SLACK;
    if (isGrown || (loss?.steps.length ?? 0) > POINTS * SLACK) return this.load(view, this.#scalars);
    const { signal } = this.#controller;
    const { worker } = view;
    const from = heatmap.steps[heatmap.steps.length - 1] ?? 0;
    const columns = Math.max(1, Math.ceil((lastStep + 1 - from) / heatmap.downsampled_by));
    const [newHeatmap, newNonfinite, newLoss, newValidation, newRate, ...newCorrelations] = await Promise.all([
      this.#fetchHeatmap(view, { from, columns }, signal),
      fetchNonfinite(this.#id, { from: nonfinite.steps[nonfinite.steps.length - 1] ?? 0, columns, worker }, signal),
      this.#followScalar(LOSS, loss, lastStep, signal),
      this.#followScalar(VALIDATION_LOSS, validation, lastStep, signal),
      this.#followScalar(this.#findRate(), rate, lastStep, signal),
      ...this.#findCorrelations().map((name) => this.#followScalar(name, correlations.find(({ tensor }) => tensor === name) ?? null, lastStep, signal)),
    ]);
    this.heatmap = mergeHeatmap(heatmap, newHeatmap);
    this.nonfinite = mergeNonfinite(nonfinite, newNonfinite);
    this.loss = newLoss;
    this.validation = newValidation;
    this.rate = newRate;
    this.correlations = newCorrelations.filter(isThere);
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
    return mergeSeries(older, await fetchSeries(this.#id, { tensor: older.tensor, kind: "scalar", from, points, ...this.#part }, signal));
  }

  /** Gives up what is under way. */
  close() {
    this.#controller.abort();
  }
}

/**
 * @param {Series | null} series
 * @returns {series is Series}
 */
const isThere = (series) => series !== null && series.steps.length > 0;

/**
 * @typedef {object} TensorNumbers
 * @property {string} tensor
 * @property {string} kind
 * @property {Series} norm
 * @property {Series} min
 * @property {Series} max
 * @property {Series} mean
 * @property {Series} zeros share of exact zeros
 * @property {Series | null} saturated share of elements in saturated units
 * @property {Series | null} distance cosine distance between samples
 * @property {Series | null} ratio
 */
/** @typedef {{from: number | null, to: number | null} & Part} Range */
/** @typedef {{tensor: string, kind: string, norm: Series}} Course */

/**
 * Fetches the lines of one tensor.
 * @param {string} id of the run
 * @param {{tensor: string, kind: string, hasUpdate: boolean} & Range} query
 * @param {AbortSignal} signal
 * @returns {Promise<TensorNumbers>}
 */
export async function fetchTensorNumbers(id, { tensor, kind, hasUpdate, from, to, worker, replica }, signal) {
  const fetch = async (/** @type {string} */ statistic, asKind = kind) =>
    keepCaptured(await fetchSeries(id, { tensor, kind: asKind, statistic, from, to, points: PANEL_POINTS, worker, replica }, signal));
  const [norm, min, max, mean, sizes, zeros, saturated, distance, ratio] = await Promise.all([
    fetch("norm"),
    fetch("min"),
    fetch("max"),
    fetch("mean"),
    fetch("n_elements"),
    fetch("n_zero"),
    kind === "activation" ? fetch("n_saturated") : null,
    kind === "activation" ? fetch("cosine_distance") : null,
    hasUpdate && HAS_RATIO.has(kind) ? fetch("update_ratio", "update") : null,
  ]);
  return { tensor, kind, norm, min, max, mean, zeros: divideSeries(zeros, sizes), saturated: saturated && divideSeries(saturated, sizes), distance, ratio };
}

/**
 * Fetches the norms of several tensors, to be drawn small beside each other.
 * @param {string} id of the run
 * @param {{tensor: string, kind: string}[]} wanted
 * @param {Range} range
 * @param {AbortSignal} signal
 * @returns {Promise<Course[]>}
 */
export async function fetchCourses(id, wanted, { from, to, worker, replica }, signal) {
  return Promise.all(wanted.map(async ({ tensor, kind }) => {
    const norm = await fetchSeries(id, { tensor, kind, statistic: "norm", from, to, points: COURSE_POINTS, worker, replica }, signal);
    return { tensor, kind, norm: keepCaptured(norm) };
  }));
}
