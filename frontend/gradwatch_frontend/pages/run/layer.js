/** The picked layer at the side of the heatmap: its lines, and its figures as a table, which is the heatmap in words too. */

import { LinesChart } from "../../charts/lines_chart.js";
import { fill, h } from "../../dom.js";
import { formatCount, formatNumber, formatShare } from "../../format.js";
import { report } from "../../notice.js";
import { fetchTensorNumbers } from "../../numbers.js";
import { lastNumber } from "../../series.js";

/** @typedef {import("../../numbers.js").TensorNumbers} TensorNumbers */
/** @typedef {import("../../schema.js").Tensor} Tensor */
/** @typedef {import("../../schema.js").Series} Series */
/**
 * @typedef {object} LayerQuery
 * @property {string | null} tensor
 * @property {string} kind
 * @property {Tensor | null} info its entry in the table of tensors
 * @property {[number, number]} range
 * @property {number | null} from
 * @property {number | null} to
 * @property {number} version grows with the run
 */

export class LayerCard {
  #id;
  #controller = new AbortController();

  /**
   * @param {string} id of the run
   * @param {{step: (by: number) => void}} actions
   */
  constructor(id, { step }) {
    this.#id = id;
    this.title = h("h2", { class: "path", "aria-live": "polite" });
    this.facts = h("table", { class: "figures" });
    const box = h("div", { class: "lines-chart" });
    this.element = h("section", { class: "card", "aria-label": "Picked layer", hidden: true },
      h("div", { class: "card-head" },
        this.title,
        h("div", { class: "buttons" },
          h("button", { type: "button", class: "button icon", title: "Previous layer (k)", "aria-label": "Previous layer", onclick: () => step(-1) }, "↑"),
          h("button", { type: "button", class: "button icon", title: "Next layer (j)", "aria-label": "Next layer", onclick: () => step(1) }, "↓"),
        ),
      ),
      box, this.facts);
    this.chart = new LinesChart(box);
  }

  /**
   * Fetches and shows a layer.
   * @param {LayerQuery} query
   */
  async load({ tensor, kind, info, range, from, to }) {
    if (tensor === null) return;
    this.#controller.abort();
    this.#controller = new AbortController();
    const hasUpdate = info?.kinds.includes("update") ?? false;
    this.element.hidden = false;
    this.#drawTitle(tensor);
    try {
      const numbers = await fetchTensorNumbers(this.#id, { tensor, kind, hasUpdate, from, to }, this.#controller.signal);
      this.chart.draw({ ...numbers, range });
      this.#drawFacts(numbers, info);
    } catch (error) {
      report(error, "panel");
    }
  }

  /** @param {string} tensor */
  #drawTitle(tensor) {
    // A path may break after each slash, and nowhere else.
    const parts = tensor.split("/");
    fill(this.title, parts.flatMap((part, i) => (i === 0 ? [part] : ["/", h("wbr"), part])));
  }

  /**
   * @param {TensorNumbers} numbers
   * @param {Tensor | null} info
   */
  #drawFacts({ kind, norm, min, max, zeros, ratio }, info) {
    const n = info?.n_elements ?? null;
    const bad = Math.max(0, ...norm.n_nonfinite.map((count) => count ?? 0));
    const zero = lastNumber(zeros.mean);
    const isMissing = bad === 0 && norm.mean.every((value) => value === null);
    const rows = [
      [`${kind} norm`, isMissing && kind === "gradient" ? "no gradient reaches it" : describeCourse(norm)],
      !isMissing && ["elements", `${formatNumber(lastNumber(min.min))} to ${formatNumber(lastNumber(max.max))}`],
      ratio !== null && ["update ÷ weight", describeCourse(ratio)],
      !isMissing && ["exact zeros", zero !== null && n ? formatShare(zero / n) : formatCount(zero)],
      bad > 0 && ["NaN or Inf", `${formatCount(bad)}${n ? ` of ${formatCount(n)}` : ""}`, "bad"],
      info !== null && ["shape", `${info.shape.map((size) => size ?? "?").join(" × ") || "scalar"} ${info.dtype}`],
    ];
    fill(this.facts, h("tbody", {}, rows.flatMap((row) => (row === false ? [] : [h("tr", {}, h("th", { scope: "row" }, row[0]), h("td", { class: row[2] ?? "" }, row[1]))]))));
  }

  close() {
    this.#controller.abort();
    this.chart.close();
  }
}

/**
 * The course of a series in three words: first → last finite → NaN.
 * @param {Series} series
 * @returns {string}
 */
function describeCourse(series) {
  const first = series.mean.find((value) => value !== null) ?? null;
  const last = lastNumber(series.mean.filter((_, i) => !series.n_nonfinite[i]));
  const isBroken = (series.n_nonfinite[series.n_nonfinite.length - 1] ?? 0) > 0;
  if (first === null) return isBroken ? "NaN" : formatNumber(null);
  const parts = [formatNumber(first)];
  if (last !== null && formatNumber(last) !== formatNumber(first)) parts.push(formatNumber(last));
  if (isBroken) parts.push("NaN");
  return parts.join(" → ");
}
