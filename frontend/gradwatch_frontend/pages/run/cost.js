/** What the hook costs, and how often it takes full statistics: a pill at the top, its history in a panel under it. */

import { fetchCapture } from "../../api.js";
import { currentCadence, sayCadence, sayCost, sayKinds, sayReason } from "../../cadence.js";
import { fill, h } from "../../dom.js";
import { formatShare, formatStep } from "../../format.js";
import { Menu } from "../../menu.js";
import { report } from "../../notice.js";

/** @typedef {import("../../schema.js").Cadence} Cadence */
/** @typedef {import("../../schema.js").RunDetail} RunDetail */

/** While a run is live its cadence is asked for this often at most. */
const REFRESH_MS = 3000;
const MOST_ENTRIES = 12;

export class CostPill {
  /** @type {Cadence[]} */
  history = [];
  /** Called when the history has changed. */
  onChange = () => {};
  #id;
  #menu = new Menu("What the hook costs", { className: "pill", title: "What the hook costs, and how often it takes full statistics" });
  #fetchedAt = -Infinity;
  #isFetching = false;
  /** @type {RunDetail | null} */
  #run = null;

  /** @param {string} id of the run */
  constructor(id) {
    this.#id = id;
    this.element = this.#menu.element;
    this.element.hidden = true;
    this.#menu.onOpen = () => void this.refresh(true);
  }

  /**
   * Asks how often, if the last answer is old enough.
   * @param {boolean} [isUrgent]
   */
  async refresh(isUrgent = false) {
    if (this.#isFetching || (!isUrgent && performance.now() - this.#fetchedAt < REFRESH_MS)) return;
    this.#isFetching = true;
    try {
      const { capture } = await fetchCapture(this.#id);
      const isNew = capture.length !== this.history.length;
      this.history = capture;
      this.#draw();
      if (isNew) this.onChange();
    } catch (error) {
      report(error, "numbers");
    } finally {
      this.#isFetching = false;
      this.#fetchedAt = performance.now();
    }
  }

  /** @param {RunDetail} run */
  draw(run) {
    this.#run = run;
    this.#draw();
  }

  #draw() {
    const run = this.#run;
    if (run === null) return;
    const cadence = currentCadence(this.history);
    const text = sayCost(run.cost, cadence, run.last_step);
    this.element.hidden = run.cost === null && cadence === null;
    fill(this.#menu.button, h("span", { class: "number" }, text), h("span", { class: "caret", "aria-hidden": "true" }, "▾"));
    fill(this.#menu.panel, this.#buildNow(run, cadence), this.#buildHistory());
  }

  /**
   * @param {RunDetail} run
   * @param {Cadence | null} cadence
   */
  #buildNow(run, cadence) {
    const words = cadence === null ? "Full statistics at every step" : `${capitalize(sayCadence(cadence, run.last_step))} ${sayKinds(cadence, this.history)}`.trim();
    const why = cadence === null ? "" : sayReason(cadence);
    return h("div", { class: "stack" },
      h("p", {}, h("b", {}, words), why === "" ? "." : `, ${why}.`),
      run.cost !== null && h("p", { class: "muted" }, `The hook takes ${formatShare(run.cost)} of the training's time.`),
      h("p", { class: "muted small-text" }, "Norm and NaN or Inf of every gradient are looked at in every step, whatever the cadence."));
  }

  #buildHistory() {
    if (this.history.length < 2) return null;
    const rows = this.history.slice(-MOST_ENTRIES).reverse().map((entry) =>
      h("tr", {}, h("td", { class: "number" }, formatStep(entry.step)), h("td", {}, capitalize(sayCadence(entry, null).replace("full statistics ", "")), h("span", { class: "muted" }, ` ${sayKinds(entry, this.history)}`)), h("td", { class: "muted" }, sayReason(entry)), h("td", { class: "number" }, entry.cost === null ? "" : formatShare(entry.cost))));
    return h("table", { class: "history" },
      h("thead", {}, h("tr", {}, ["from step", "cadence", "why", "cost"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows));
  }

  close() {
    this.#menu.close();
  }
}

/** @param {string} text */
const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);
