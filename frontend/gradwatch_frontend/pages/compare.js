/** Runs laid over each other. State in the query: run (two to eight), by, tensor. */

import { fetchComparison, fetchSeries } from "../api.js";
import { CompareChart } from "../charts/compare_chart.js";
import { loadFigure } from "../charts/plot.js";
import { fill, h } from "../dom.js";
import { formatNumber, formatState, formatStep, formatValue } from "../format.js";
import { bindKeys } from "../keys.js";
import { report } from "../notice.js";
import { runPath } from "../router.js";
import { lastNumber } from "../series.js";
import { currentTheme, watchTheme } from "../theme.js";
import { buildHealth, buildState } from "./runs.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../schema.js").Comparison} Comparison */
/** @typedef {import("../schema.js").Series} Series */

const REFRESH_MS = 3000;
const POINTS = 600;

/**
 * @param {Context} context
 * @param {URLSearchParams} query
 * @returns {import("../main.js").Page}
 */
export function openCompare(context, query) {
  document.title = "Compare · gradwatch";
  const ids = [...new Set(query.getAll("run"))];
  if (ids.length < 2) {
    context.root.append(h("section", { class: "card empty" },
      h("h1", {}, "Choose two runs or more"),
      h("p", {}, "In the list of runs, tick those to lay over each other: a sick one and the last healthy one, or one before and one after the fix."),
      h("p", {}, h("a", { class: "button primary", href: "/" }, "Choose runs"))));
    return { close: () => {} };
  }
  const page = new ComparePage(context, ids, query);
  void page.refresh();
  return page;
}

class ComparePage {
  /** @type {Comparison | null} */
  #comparison = null;
  /** @type {(Series | null)[]} */
  #lines = [];
  /** @type {Set<string>} */
  #hidden = new Set();
  /** @type {string[]} */
  #colors = [];
  /** @type {"step" | "time"} */
  #by;
  /** @type {string | null} */
  #tensor;
  #isStale = false;
  #showsEqual = false;
  #controller = new AbortController();
  /** @type {(() => void)[]} */
  #ends = [];

  /**
   * @param {Context} context
   * @param {string[]} ids
   * @param {URLSearchParams} query
   */
  constructor(context, ids, query) {
    this.context = context;
    this.ids = ids;
    this.#by = query.get("by") === "time" ? "time" : "step";
    this.#tensor = query.get("tensor");
    this.runs = h("table", { class: "compared" });
    this.config = h("section", { class: "card", "aria-label": "Config", hidden: true });
    this.axis = h("div", { class: "segmented", role: "group", "aria-label": "Horizontal axis" });
    this.layers = h("select", { "aria-label": "Layer", onchange: () => this.#pickTensor(this.layers.value) });
    this.box = h("div", { class: "plot compare-chart" });
    context.root.append(
      h("h1", { class: "off-screen" }, "Compare"),
      h("div", { class: "compare-page" },
        h("section", { class: "card flush", "aria-label": "Compared runs" }, this.runs),
        h("section", { class: "card chart-card", "aria-label": "Charts" },
          h("div", { class: "chart-head" }, h("h2", {}, "Laid over each other"), h("div", { class: "choices" }, h("label", { class: "inline" }, h("span", { class: "muted small-text" }, "layer"), this.layers), this.axis)),
          this.box),
        this.config));
    this.chart = new CompareChart(this.box);
    this.chart.plot.onError = (error) => report(error, "numbers");
    this.#listen();
    bindKeys([{ keys: ["t"], words: "by step or by time", run: () => this.#setAxis(this.#by === "step" ? "time" : "step") }]);
  }

  #listen() {
    const { live } = this.context;
    const timer = setInterval(() => {
      if (this.#isStale && !document.hidden) void this.refresh();
    }, REFRESH_MS);
    this.#ends.push(
      live.listen((message) => {
        if (message.type === "progress" || message.type === "run" || message.type === "findings" || message.type === "subscribed") this.#isStale = true;
      }),
      watchTheme(() => void this.#draw()),
      () => clearInterval(timer),
    );
    live.subscribe(this.ids);
  }

  /** Fetches the comparison again. */
  async refresh() {
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    this.#isStale = false;
    try {
      this.#comparison = await fetchComparison(this.ids, signal);
      await this.#loadLines(signal);
      await this.#draw();
    } catch (error) {
      report(error);
    }
  }

  /** @param {AbortSignal} signal */
  async #loadLines(signal) {
    const tensors = this.#comparison?.tensors ?? [];
    this.#tensor = this.#tensor !== null && tensors.includes(this.#tensor) ? this.#tensor : (tensors[0] ?? null);
    const tensor = this.#tensor;
    this.#lines = await Promise.all(this.ids.map((id) =>
      tensor === null ? null : fetchSeries(id, { tensor, kind: "gradient", statistic: "norm", points: POINTS }, signal)));
  }

  /** @param {string} tensor */
  #pickTensor(tensor) {
    this.#tensor = tensor;
    this.context.router.remember({ tensor });
    void this.refresh();
  }

  /** @param {"step" | "time"} by */
  #setAxis(by) {
    this.#by = by;
    this.context.router.remember({ by: by === "step" ? null : by });
    void this.#draw();
  }

  async #draw() {
    const comparison = this.#comparison;
    if (comparison === null) return;
    this.#colors = (await loadFigure("compare", currentTheme())).layout.colorway;
    const options = /** @type {const} */ ([["step", "by step"], ["time", "by wall time"]]);
    fill(this.axis, options.map(([by, words]) =>
      h("button", { type: "button", "aria-pressed": String(by === this.#by), onclick: () => this.#setAxis(by) }, words)));
    fill(this.layers, comparison.tensors.map((tensor) => h("option", { value: tensor, selected: tensor === this.#tensor }, tensor)));
    /** @type {HTMLElement} */ (this.layers.parentElement).hidden = comparison.tensors.length === 0;
    this.#drawRuns(comparison);
    this.#drawConfig(comparison);
    this.chart.draw(
      comparison.runs.map((run, i) => ({
        name: run.name, isShown: !this.#hidden.has(run.id), loss: comparison.series.loss[i] ?? null,
        gradient_norm: comparison.series.gradient_norm[i] ?? null, tensor: this.#lines[i] ?? null,
      })),
      this.#by,
      this.#tensor,
    );
  }

  /** @param {Comparison} comparison */
  #drawRuns(comparison) {
    const rows = comparison.runs.map((run, i) => {
      const loss = comparison.series.loss[i] ?? null;
      const state = loss?.state[loss.state.length - 1] ?? null;
      const swatch = h("i", { class: "line-swatch" });
      swatch.style.background = this.#colors[i % this.#colors.length] ?? "";
      const isShown = !this.#hidden.has(run.id);
      return h("tr", { class: isShown ? "" : "faded", "data-key": run.id },
        h("td", { class: "choose" }, h("label", {}, h("input", { type: "checkbox", checked: isShown, "aria-label": `Show ${run.name}`, onchange: () => this.#toggle(run.id) }), swatch)),
        h("td", {}, h("a", { class: "run-name", href: runPath(run.id) }, run.name)),
        h("td", { class: "health" }, buildHealth(run)),
        h("td", { class: "nowrap" }, h("span", { class: "muted" }, "loss "), h("span", { class: state === null ? "number" : "number bad" }, state === null ? formatNumber(loss === null ? null : lastNumber(loss.mean), 4) : formatState(state))),
        h("td", { class: "number" }, formatStep(run.last_step)),
        h("td", {}, buildState(run.state)));
    });
    fill(this.runs, h("tbody", {}, rows));
  }

  /** @param {string} id */
  #toggle(id) {
    if (!this.#hidden.delete(id)) this.#hidden.add(id);
    void this.#draw();
  }

  /** @param {Comparison} comparison */
  #drawConfig({ runs, config }) {
    this.config.hidden = config.length === 0;
    const differing = config.filter(({ differs }) => differs);
    const shown = this.#showsEqual ? config : differing;
    const nEqual = config.length - differing.length;
    fill(this.config,
      h("div", { class: "card-head" }, h("h2", {}, "What differs in the config"),
        nEqual > 0 && h("button", { type: "button", class: "button small", onclick: () => this.#toggleEqual() }, this.#showsEqual ? "Hide what is equal" : `Show ${nEqual} equal`)),
      shown.length === 0 ? h("p", { class: "muted" }, "Nothing: the configs are equal.") :
      h("div", { class: "scroll" }, h("table", { class: "config" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), runs.map((run, i) => {
          const swatch = h("i", { class: "line-swatch" });
          swatch.style.background = this.#colors[i % this.#colors.length] ?? "";
          return h("th", { scope: "col" }, swatch, run.name);
        }))),
        h("tbody", {}, shown.map(({ key, values, differs }) =>
          h("tr", { class: differs ? "differs" : "" }, h("th", { scope: "row" }, key), values.map((value) => h("td", {}, formatValue(value)))))))));
  }

  #toggleEqual() {
    this.#showsEqual = !this.#showsEqual;
    void this.#draw();
  }

  close() {
    this.#controller.abort();
    for (const end of this.#ends) end();
    this.chart.close();
  }
}
