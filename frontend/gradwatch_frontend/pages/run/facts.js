/** Facts of a run: when, where, with what config. Name and tags can be changed here. */

import { changeRun } from "../../api.js";
import { fill, h } from "../../dom.js";
import { formatDuration, formatMoment, formatPlural, formatShare, formatStep, formatValue } from "../../format.js";
import { report } from "../../notice.js";
import { STATE_WORDS } from "../runs.js";

/** @typedef {import("../../schema.js").RunDetail} RunDetail */

export class FactsCard {
  #id;
  #onChange;
  /** @type {string[]} */
  #tags = [];

  /**
   * @param {string} id of the run
   * @param {(run: RunDetail) => void} onChange
   */
  constructor(id, onChange) {
    this.#id = id;
    this.#onChange = onChange;
    this.name = h("input", { class: "inline-edit", "aria-label": "Name of the run", onchange: () => void this.#change({ name: this.name.value.trim() }) });
    this.tags = h("span", { class: "tags" });
    this.tag = h("input", { class: "inline-edit tag-input", placeholder: "add a tag", "aria-label": "Add a tag", onkeydown: (/** @type {KeyboardEvent} */ event) => this.#typeTag(event), onblur: () => this.#addTag() });
    this.facts = h("dl", { class: "facts" });
    this.more = h("div", {});
    this.element = h("section", { class: "card", "aria-label": "Run" },
      h("h2", {}, "Run"),
      h("div", { class: "run-facts" },
        h("div", {}, h("dl", { class: "facts" }, h("dt", {}, "name"), h("dd", {}, this.name), h("dt", {}, "tags"), h("dd", {}, this.tags, this.tag)), this.facts),
        this.more));
  }

  /** @param {RunDetail} run */
  draw(run) {
    this.#tags = run.tags;
    if (document.activeElement !== this.name) this.name.value = run.name;
    fill(this.tags, run.tags.map((tag) =>
      h("span", { class: "tag", "data-key": tag }, tag, h("button", { type: "button", class: "tag-remove", "aria-label": `Remove the tag ${tag}`, onclick: () => void this.#change({ tags: this.#tags.filter((each) => each !== tag) }) }, "✕"))));
    fill(this.facts, listFacts(run));
    fill(this.more, buildTable("Config", run.config, true), buildTable("Environment", run.environment, false));
  }

  /** @param {{name?: string, tags?: string[]}} change */
  async #change(change) {
    if (change.name === "") return;
    try {
      this.#onChange(await changeRun(this.#id, change));
    } catch (error) {
      report(error);
    }
  }

  /** @param {KeyboardEvent} event */
  #typeTag(event) {
    if (event.key !== "Enter" && event.key !== ",") return;
    event.preventDefault();
    this.#addTag();
  }

  #addTag() {
    const tag = this.tag.value.trim();
    this.tag.value = "";
    if (tag !== "" && !this.#tags.includes(tag)) void this.#change({ tags: [...this.#tags, tag] });
  }
}

/**
 * The facts that nobody can change, as terms and their values.
 * @param {RunDetail} run
 * @returns {HTMLElement[]}
 */
export function listFacts(run) {
  const optimizers = run.streams.map(({ optimizer }) => optimizer);
  const ended = run.ended_at === null ? null : (Date.parse(run.ended_at) - Date.parse(run.started_at)) / 1000;
  const facts = /** @type {[string, string | null][]} */ ([
    ["state", STATE_WORDS[run.state] ?? run.state],
    ["project", run.project],
    ["started", formatMoment(run.started_at)],
    ["took", ended === null ? null : formatDuration(ended)],
    ["steps", run.last_step === null ? null : formatStep(run.last_step + 1)],
    [optimizers.length > 1 ? "optimizers" : "optimizer", optimizers.length === 0 ? null : optimizers.join(", ")],
    ["hook costs", run.cost === null ? null : formatShare(run.cost)],
    ["rows lost", formatStep(run.n_rows_lost)],
    ["steps skipped", run.n_skipped > 0 ? formatStep(run.n_skipped) : null],
    ["id", run.id],
  ]);
  return facts.flatMap(([name, value]) => (value === null ? [] : [h("dt", {}, name), h("dd", { class: name === "id" ? "mono" : "" }, value)]));
}

/**
 * A table of settings, to be opened.
 * @param {string} title
 * @param {Record<string, unknown>} values
 * @param {boolean} isOpen
 */
export function buildTable(title, values, isOpen) {
  const entries = flatten(values);
  if (entries.length === 0) return null;
  return h("details", { "data-key": title, open: isOpen }, h("summary", {}, `${title} · ${formatPlural(entries.length, "entry", "entries")}`),
    h("dl", { class: "facts" }, entries.flatMap(([name, value]) => [h("dt", { title: name }, name), h("dd", {}, formatValue(value))])));
}

/**
 * Joins nested settings by dots: `optimizer.learning_rate`.
 * @param {Record<string, unknown>} values
 * @param {string} [prefix]
 * @returns {[string, unknown][]}
 */
function flatten(values, prefix = "") {
  return Object.entries(values).flatMap(([name, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? flatten(/** @type {Record<string, unknown>} */ (value), `${prefix}${name}.`)
      : [/** @type {[string, unknown]} */ ([`${prefix}${name}`, value])],
  );
}
