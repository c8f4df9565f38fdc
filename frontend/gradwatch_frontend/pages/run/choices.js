/** What the heatmap shows: kind, statistic, order of layers, scale of colours. Buttons, and their place in the address. */

import { h } from "../../dom.js";

/** @typedef {{kind: string, statistic: string, order: "depth" | "trouble", scale: "value" | "own"}} ChoiceState */

const KINDS = /** @type {[string, string][]} */ ([
  ["gradient", "gradient"],
  ["weight", "weight"],
  ["update", "update"],
  ["update_ratio", "update ÷ weight"],
  ["activation", "activation"],
  ["backprop", "backprop"],
  ["operation", "operation"],
]);
const STATISTICS = /** @type {[string, string][]} */ ([
  ["norm", "norm"],
  ["max", "max"],
  ["min", "min"],
  ["mean", "mean"],
  ["std", "std"],
  ["n_zero", "zeros"],
]);

export class Choices {
  /** @type {ChoiceState} */
  state;
  #onChange;
  /** @type {Set<string>} */
  #offered = new Set(["gradient", "weight", "update"]);

  /**
   * @param {URLSearchParams} query
   * @param {(change: {reload: boolean}) => void} onChange
   */
  constructor(query, onChange) {
    this.#onChange = onChange;
    const statistic = query.get("statistic") ?? "norm";
    const kind = statistic === "update_ratio" ? "update_ratio" : (query.get("kind") ?? "gradient");
    this.state = {
      kind: KINDS.some(([name]) => name === kind) ? kind : "gradient",
      statistic: STATISTICS.some(([name]) => name === statistic) ? statistic : "norm",
      order: query.get("order") === "trouble" ? "trouble" : "depth",
      scale: query.get("scale") === "own" ? "own" : "value",
    };
    this.element = h("div", { class: "choices" });
    this.#draw();
  }

  /** What to ask the server for. */
  get query() {
    const { kind, statistic } = this.state;
    return kind === "update_ratio" ? { kind: "update", statistic: "update_ratio" } : { kind, statistic };
  }

  /** What the address keeps; defaults are left out. */
  get remembered() {
    const { kind, statistic } = this.query;
    const { order, scale } = this.state;
    return {
      kind: kind === "gradient" ? null : kind,
      statistic: statistic === "norm" ? null : statistic,
      order: order === "depth" ? null : order,
      scale: scale === "value" ? null : scale,
    };
  }

  /** The quantity in words. */
  get quantity() {
    const { kind, statistic } = this.state;
    if (kind === "update_ratio") return "update ÷ weight";
    return statistic === "n_zero" ? `exact zeros in the ${kind}` : `${kind} ${statistic}`;
  }

  /**
   * Offers the kinds that the run has.
   * @param {Set<string>} kinds
   */
  offer(kinds) {
    if (kinds.size === 0) return;
    this.#offered = kinds;
    this.#draw();
  }

  toggleOrder() {
    this.#set({ order: this.state.order === "depth" ? "trouble" : "depth" }, false);
  }

  /**
   * @param {Partial<ChoiceState>} change
   * @param {boolean} reload
   */
  #set(change, reload) {
    this.state = { ...this.state, ...change };
    this.#draw();
    this.#onChange({ reload });
  }

  #draw() {
    const { kind, statistic, order, scale } = this.state;
    const kinds = KINDS.filter(([name]) => this.#offered.has(name) || (name === "update_ratio" && this.#offered.has("update")));
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.choice;
    this.element.replaceChildren(
      this.#group("Kind", kinds, kind, (name) => this.#set({ kind: name }, true)),
      ...(kind === "update_ratio" ? [] : [this.#group("Statistic", STATISTICS, statistic, (name) => this.#set({ statistic: name }, true))]),
      this.#group("Order of layers", [["depth", "by depth"], ["trouble", "by trouble"]], order, (name) =>
        this.#set({ order: /** @type {ChoiceState["order"]} */ (name) }, false)),
      ...(statistic === "n_zero" && kind !== "update_ratio" ? [] : [this.#group("Colours", [["value", "value"], ["own", "× usual"]], scale, (name) =>
        this.#set({ scale: /** @type {ChoiceState["scale"]} */ (name) }, false))]),
    );
    if (focused !== undefined) {
      /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-choice="${CSS.escape(focused)}"]`))?.focus();
    }
  }

  /**
   * @param {string} label
   * @param {[string, string][]} options
   * @param {string} chosen
   * @param {(name: string) => void} choose
   */
  #group(label, options, chosen, choose) {
    return h("div", { class: "segmented", role: "group", "aria-label": label },
      options.map(([name, words]) =>
        h("button", { type: "button", "aria-pressed": String(name === chosen), "data-choice": `${label} ${name}`, onclick: () => choose(name) }, words)),
    );
  }
}
