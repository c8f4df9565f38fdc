/** What the heatmap shows: of which part of the run, kind, statistic, order of layers, colours. Controls, and their place in the address. */

import { SHARES } from "../../columns.js";
import { h } from "../../dom.js";

/**
 * @typedef {object} ChoiceState
 * @property {string} kind
 * @property {string} statistic
 * @property {"depth" | "trouble"} order
 * @property {"value" | "own"} scale
 * @property {number | null} worker one process of several; null is all of them
 * @property {number | null} replica one device's copy of the model; null is what is applied
 */
/** @typedef {{workers: number[], replicas: number[]}} Parts those of a run, none where there is but one */
/** @typedef {[name: string, words: string][]} Options */

/** @type {Options} */
const KINDS = [
  ["gradient", "gradient"],
  ["weight", "weight"],
  ["update", "update"],
  ["update_ratio", "update ÷ weight"],
  ["activation", "activation"],
  ["backprop", "backprop"],
  ["input", "input"],
  ["slot", "slot"],
];
/** What a kind is, where its name alone may not say it. @type {Record<string, string>} */
const MEANINGS = {
  input: "What enters the training step: inputs, targets, sample weights",
  activation: "The output of each layer",
  backprop: "The gradient of the loss with respect to each layer's output",
  slot: "What the optimizer keeps of each weight, such as Adam's moments",
};
/** @type {Options} */
const STATISTICS = [
  ["norm", "norm"],
  ["max", "max"],
  ["min", "min"],
  ["mean", "mean"],
  ["std", "std"],
  ["zero_share", "zero share"],
  ["saturated_share", "saturated units"],
  ["cosine_distance", "distance between samples"],
];
/** Statistics that only outputs of layers have. */
const OF_OUTPUTS = new Set(["saturated_share", "cosine_distance"]);

export class Choices {
  /** @type {ChoiceState} */
  state;
  #onChange;
  /** @type {Set<string>} */
  #offered = new Set(["gradient", "weight", "update"]);
  /** @type {Parts} */
  #parts = { workers: [], replicas: [] };

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
      worker: readNumber(query.get("worker")),
      replica: readNumber(query.get("replica")),
    };
    this.element = h("div", { class: "choices" });
    this.#draw();
  }

  /** What to ask the server for. */
  get query() {
    const { kind, statistic, worker, replica } = this.state;
    if (kind === "update_ratio") return { kind: "update", statistic: "update_ratio", worker, replica };
    const isUnknown = OF_OUTPUTS.has(statistic) && kind !== "activation";
    return { kind, statistic: isUnknown ? "norm" : statistic, worker, replica };
  }

  /** Whether the heatmap shows shares from 0 to 1. */
  get isShare() {
    return this.query.statistic in SHARES;
  }

  /** What the address keeps; defaults are left out. */
  get remembered() {
    const { kind, statistic } = this.query;
    const { order, scale, worker, replica } = this.state;
    return {
      kind: kind === "gradient" ? null : kind,
      statistic: statistic === "norm" ? null : statistic,
      order: order === "depth" ? null : order,
      scale: scale === "value" ? null : scale,
      worker,
      replica,
    };
  }

  /** The quantity in words. */
  get quantity() {
    return nameQuantity(this.query);
  }

  /**
   * Shows a kind and a statistic of the run, if it captures that kind; what is asked for next is up to the page.
   * @param {{kind: string, statistic: string}} view
   */
  show({ kind, statistic }) {
    const name = statistic === "update_ratio" ? "update_ratio" : kind;
    if (!this.#offered.has(kind) || !KINDS.some(([known]) => known === name)) return;
    const known = STATISTICS.some(([each]) => each === statistic) ? statistic : "norm";
    this.state = { ...this.state, kind: name, statistic: known, replica: kind === "gradient" ? this.state.replica : null };
    this.#draw();
  }

  /**
   * Offers the kinds and the parts that the run has; a kind that it has not gives way to one that it has.
   * @param {Set<string>} kinds
   * @param {Parts} parts
   */
  offer(kinds, parts) {
    if (kinds.size === 0) return;
    this.#offered = kinds;
    this.#parts = parts;
    const isThere = kinds.has(this.query.kind);
    if (!isThere) this.state = { ...this.state, kind: kinds.has("gradient") ? "gradient" : (KINDS.find(([name]) => kinds.has(name))?.[0] ?? "gradient") };
    this.#draw();
  }

  toggleOrder() {
    this.#set({ order: this.state.order === "depth" ? "trouble" : "depth" });
  }

  /**
   * @param {Partial<ChoiceState>} change
   * @param {{reload?: boolean}} [effect]
   */
  #set(change, { reload = false } = {}) {
    this.state = { ...this.state, ...change };
    this.#draw();
    this.#onChange({ reload });
  }

  #draw() {
    const { kind, order, scale, replica } = this.state;
    const { statistic } = this.query;
    // Of a replica only its own gradients are known.
    const offered = replica === null ? this.#offered : new Set(["gradient"]);
    const kinds = KINDS.filter(([name]) => offered.has(name) || (name === "update_ratio" && offered.has("update")));
    const statistics = STATISTICS.filter(([name]) => !OF_OUTPUTS.has(name) || kind === "activation");
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.choice;
    this.element.replaceChildren(
      ...this.#buildParts(),
      this.#group("Kind", kinds, kind, (name) => this.#set({ kind: name }, { reload: true })),
      ...(kind === "update_ratio" ? [] : [this.#list("Statistic", statistics, statistic, (name) => this.#set({ statistic: name }, { reload: true }))]),
      this.#group("Order of layers", [["depth", "by depth"], ["trouble", "by trouble"]], order, (name) =>
        this.#set({ order: /** @type {ChoiceState["order"]} */ (name) })),
      ...(this.isShare ? [] : [this.#group("Colours", [["value", "value"], ["own", "× usual"]], scale, (name) =>
        this.#set({ scale: /** @type {ChoiceState["scale"]} */ (name) }))]),
    );
    if (focused !== undefined) {
      /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-choice="${CSS.escape(focused)}"]`))?.focus();
    }
  }

  #buildParts() {
    const { workers, replicas } = this.#parts;
    if (workers.length < 2 && replicas.length < 2) return [];
    const { worker, replica } = this.state;
    const options = /** @type {Options} */ ([
      ["", workers.length > 1 ? "all workers" : "what is applied"],
      ...(workers.length > 1 ? workers.map((each) => [`worker ${each}`, `worker ${each}`]) : []),
      ...replicas.map((each) => [`replica ${each}`, `replica ${each}`]),
    ]);
    const chosen = replica !== null ? `replica ${replica}` : worker !== null ? `worker ${worker}` : "";
    return [this.#list("Part of the run", options, chosen, (name) => {
      const [sort, number] = name.split(" ");
      const isReplica = sort === "replica";
      this.#set({ worker: sort === "worker" ? Number(number) : null, replica: isReplica ? Number(number) : null, ...(isReplica ? { kind: "gradient" } : {}) }, { reload: true });
    })];
  }

  /**
   * @param {string} label
   * @param {Options} options
   * @param {string} chosen
   * @param {(name: string) => void} choose
   */
  #group(label, options, chosen, choose) {
    return h("div", { class: "segmented", role: "group", "aria-label": label },
      options.map(([name, words]) =>
        h("button", { type: "button", title: MEANINGS[name] ?? null, "aria-pressed": String(name === chosen), "data-choice": `${label} ${name}`, onclick: () => choose(name) }, words)),
    );
  }

  /**
   * @param {string} label
   * @param {Options} options
   * @param {string} chosen
   * @param {(name: string) => void} choose
   */
  #list(label, options, chosen, choose) {
    return h("select", { class: "small", "aria-label": label, "data-choice": label, onchange: (/** @type {{target: HTMLSelectElement}} */ { target }) => choose(target.value) },
      options.map(([name, words]) => h("option", { value: name, selected: name === chosen }, words)));
  }
}

/**
 * Says in words what a heatmap shows.
 * @param {{kind: string, statistic: string}} query
 * @returns {string}
 */
export function nameQuantity({ kind, statistic }) {
  if (statistic === "update_ratio") return "update ÷ weight";
  if (statistic === "zero_share") return `exact zeros in the ${kind}`;
  if (statistic === "cosine_distance") return "cosine distance between the outputs for two samples";
  return statistic === "saturated_share" ? "units that are flat for the whole batch" : `${kind} ${statistic}`;
}

/**
 * @param {string | null} text
 * @returns {number | null}
 */
const readNumber = (text) => (text !== null && /^\d+$/.test(text) ? Number(text) : null);
