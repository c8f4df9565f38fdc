/**
 * The picked layer at the side of the heatmap: everything captured of it side by side, the lines of one tensor, and its figures
 * as a table, which is the heatmap in words too.
 */

import { fetchColumns } from "../../api.js";
import { drawCourse } from "../../charts/course.js";
import { LinesChart } from "../../charts/lines_chart.js";
import { fill, h } from "../../dom.js";
import { formatCount, formatNumber, formatPlural, formatShare } from "../../format.js";
import { report } from "../../notice.js";
import { fetchCourses, fetchTensorNumbers } from "../../numbers.js";
import { lastNumber } from "../../series.js";
import { buildBroken, buildRanges } from "./inputs.js";

/** @typedef {import("../../numbers.js").TensorNumbers} TensorNumbers */
/** @typedef {import("../../numbers.js").Course} Course */
/** @typedef {import("../../schema.js").Tensor} Tensor */
/** @typedef {import("../../schema.js").Series} Series */
/**
 * @typedef {object} LayerQuery
 * @property {string | null} tensor
 * @property {string} kind
 * @property {Tensor[]} family everything captured of its layer
 * @property {[number, number]} range
 * @property {number | null} from
 * @property {number | null} to
 * @property {number | null} worker
 * @property {number | null} replica
 */

/** In the order in which a number travels through a step. */
const ORDER = ["activation", "backprop", "gradient", "update", "weight", "slot", "input"];
/** More would push the lines off the screen; the heatmap has the others. */
const MOST_ROWS = 14;

export class LayerCard {
  #id;
  #controller = new AbortController();
  #onPick;
  /** @type {LayerQuery | null} */
  #query = null;
  /** What is shown instead of the heatmap's own tensor and kind. @type {{tensor: string, kind: string} | null} */
  #chosen = null;
  /** @type {{tensor: string, ranges: HTMLElement} | null} */
  #ranges = null;

  /**
   * @param {string} id of the run
   * @param {{step: (by: number) => void, pick: (tensor: string, kind: string) => boolean}} actions `pick` returns whether the
   *   heatmap shows that tensor, and so picks it
   */
  constructor(id, { step, pick }) {
    this.#id = id;
    this.#onPick = pick;
    this.title = h("h2", { class: "path", "aria-live": "polite" });
    this.courses = h("div", { class: "courses" });
    this.facts = h("table", { class: "figures" });
    this.columns = h("div", {});
    const box = h("div", { class: "lines-chart" });
    this.element = h("section", { class: "card", "aria-label": "Picked layer", hidden: true },
      h("div", { class: "card-head" },
        this.title,
        h("div", { class: "buttons" },
          h("button", { type: "button", class: "button icon", title: "Previous layer (k)", "aria-label": "Previous layer", onclick: () => step(-1) }, "↑"),
          h("button", { type: "button", class: "button icon", title: "Next layer (j)", "aria-label": "Next layer", onclick: () => step(1) }, "↓"),
        ),
      ),
      this.courses, box, this.facts, this.columns);
    this.chart = new LinesChart(box);
  }

  /**
   * Fetches and shows a layer.
   * @param {LayerQuery} query
   */
  async load(query) {
    const old = this.#query;
    if (old?.tensor !== query.tensor || old?.kind !== query.kind) this.#chosen = null;
    this.#query = query;
    await this.#show();
  }

  async #show() {
    const query = this.#query;
    if (query === null || query.tensor === null) return;
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    const { tensor, kind } = this.#chosen ?? { tensor: query.tensor, kind: query.kind };
    const { family, range, from, to, worker, replica } = query;
    const info = family.find((each) => each.tensor === tensor) ?? null;
    this.element.hidden = false;
    this.#drawTitle(tensor);
    try {
      const rows = listRows(family, tensor);
      const [numbers, courses] = await Promise.all([
        fetchTensorNumbers(this.#id, { tensor, kind, hasUpdate: info?.kinds.includes("update") ?? false, from, to, worker, replica }, signal),
        fetchCourses(this.#id, rows, query, signal),
      ]);
      this.chart.draw({ ...numbers, range });
      this.#drawCourses(courses, family, { tensor, kind }, range);
      this.#drawFacts(numbers, info);
      this.#drawInput(kind === "input" ? tensor : null);
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
   * @param {Course[]} courses
   * @param {Tensor[]} family
   * @param {{tensor: string, kind: string}} shown
   * @param {[number, number]} range
   */
  #drawCourses(courses, family, shown, range) {
    this.courses.hidden = courses.length < 2;
    const n = family.reduce((sum, { kinds }) => sum + kinds.length, 0);
    const groups = [...new Set(courses.map(({ tensor }) => tensor))];
    fill(this.courses,
      groups.map((tensor) => {
        const info = family.find((each) => each.tensor === tensor);
        return h("div", { class: "course-group", "data-key": tensor },
          h("div", { class: "course-name" }, h("b", {}, nameWithin(tensor, info)), info && h("span", { class: "muted" }, describeShape(info))),
          courses.filter((course) => course.tensor === tensor).map((course) => this.#buildCourse(course, shown, range)));
      }),
      n > courses.length && h("p", { class: "muted small-text" }, `and ${formatPlural(n - courses.length, "other tensor")} of this layer in the heatmap`));
  }

  /**
   * @param {Course} course
   * @param {{tensor: string, kind: string}} shown
   * @param {[number, number]} range
   */
  #buildCourse({ tensor, kind, norm }, shown, range) {
    const isShown = tensor === shown.tensor && kind === shown.kind;
    const isBad = (norm.n_nonfinite[norm.n_nonfinite.length - 1] ?? 0) > 0;
    return h("button", { type: "button", class: "course-row", "aria-pressed": String(isShown), "data-key": `${kind} ${tensor}`, onclick: () => this.#choose(tensor, kind) },
      h("span", { class: "course-kind" }, kind), drawCourse(norm, range), h("span", { class: isBad ? "number bad" : "number" }, describeEnd(norm, kind)));
  }

  /**
   * @param {string} tensor
   * @param {string} kind
   */
  #choose(tensor, kind) {
    this.#chosen = { tensor, kind };
    if (!this.#onPick(tensor, kind)) void this.#show();
  }

  /**
   * @param {TensorNumbers} numbers
   * @param {Tensor | null} info
   */
  #drawFacts({ kind, norm, min, max, zeros, saturated, distance, ratio }, info) {
    const n = info?.n_elements ?? 0;
    const bad = Math.max(0, ...norm.n_nonfinite.map((count) => count ?? 0));
    const zero = lastNumber(zeros.mean);
    const flat = saturated === null ? null : lastNumber(saturated.mean);
    const isMissing = bad === 0 && norm.mean.every((value) => value === null);
    const rows = [
      [`${kind} norm`, isMissing && kind === "gradient" ? "no gradient reaches it" : describeCourse(norm)],
      !isMissing && ["elements", `${formatNumber(lastNumber(min.min))} to ${formatNumber(lastNumber(max.max))}`],
      ratio !== null && ["update ÷ weight", describeCourse(ratio)],
      !isMissing && zero !== null && ["exact zeros", formatShare(zero)],
      flat !== null && [`saturated units${info?.activation ? ` (${info.activation})` : ""}`, formatShare(flat)],
      distance !== null && lastNumber(distance.mean) !== null && ["distance between samples", describeCourse(distance)],
      bad > 0 && ["NaN or Inf", `${formatCount(bad)}${n ? ` of ${formatCount(n)}` : ""}`, "bad"],
      info !== null && ["shape", describeShape(info)],
    ];
    fill(this.facts, h("tbody", {}, rows.flatMap((row) => (row === false ? [] : [h("tr", {}, h("th", { scope: "row" }, row[0]), h("td", { class: row[2] ?? "" }, row[1]))]))));
  }

  /** @param {string | null} tensor an input, whose columns are told when asked for */
  #drawInput(tensor) {
    if (tensor === this.#ranges?.tensor) return;
    this.#ranges = null;
    this.columns.replaceChildren();
    if (tensor === null) return;
    const ranges = h("div", {});
    const details = h("details", { ontoggle: () => details.open && void this.#loadColumns(tensor, ranges) }, h("summary", {}, "Columns and rows"), ranges);
    this.columns.replaceChildren(details);
    this.#ranges = { tensor, ranges };
  }

  /**
   * @param {string} tensor
   * @param {HTMLElement} place
   */
  async #loadColumns(tensor, place) {
    const query = this.#query;
    if (query === null) return;
    try {
      const columns = await fetchColumns(this.#id, { tensor, from: query.from, to: query.to, worker: query.worker });
      fill(place, buildBroken(columns), buildRanges(columns));
    } catch (error) {
      report(error, "panel");
    }
  }

  close() {
    this.#controller.abort();
    this.chart.close();
  }
}

/**
 * What is shown of a layer, each with its kind: its output first, then its variables in the model's order. Where that is too
 * much, the picked tensor and the output stay.
 * @param {Tensor[]} family
 * @param {string} picked
 * @returns {{tensor: string, kind: string}[]}
 */
export function listRows(family, picked) {
  const rank = (/** @type {Tensor} */ each) => (each.tensor === picked ? 0 : each.kinds.includes("activation") ? 1 : each.kinds.includes("slot") ? 3 : 2);
  let room = MOST_ROWS;
  const kept = new Set();
  for (const each of [...family].sort((a, b) => rank(a) - rank(b))) {
    if (each.kinds.length > room && kept.size > 0) continue;
    room -= each.kinds.length;
    kept.add(each.tensor);
  }
  const place = (/** @type {Tensor} */ each) => (each.kinds.includes("activation") ? 0 : each.kinds.includes("slot") ? 2 : 1);
  return family
    .filter(({ tensor }) => kept.has(tensor))
    .sort((a, b) => place(a) - place(b))
    .flatMap(({ tensor, kinds }) => ORDER.filter((kind) => kinds.some((own) => own === kind)).map((kind) => ({ tensor, kind })));
}

/**
 * A tensor's name within its layer: `kernel`, `output` for what the layer returns, `sigmoid within` for what its code takes
 * a function of.
 * @param {string} tensor
 * @param {Tensor | undefined} info
 * @returns {string}
 */
export function nameWithin(tensor, info) {
  const layer = info?.layer ?? "";
  const isOutput = info?.kinds.includes("activation");
  if (layer !== "" && tensor.startsWith(`${layer}/`)) return `${tensor.slice(layer.length + 1)}${isOutput ? " within" : ""}`;
  if (layer !== "" && tensor.startsWith(layer) && isOutput) return `output${tensor.slice(layer.length)}`;
  return tensor;
}

/**
 * @param {Tensor} info
 * @returns {string}
 */
const describeShape = ({ shape, dtype }) => `${shape.map((size) => size ?? "?").join(" × ") || "scalar"} ${dtype}`;

/**
 * @param {Series} norm
 * @param {string} kind
 * @returns {string} the last value, or what it became
 */
function describeEnd(norm, kind) {
  const last = norm.mean.length - 1;
  if (last < 0) return kind === "gradient" ? "none" : "not captured";
  return (norm.n_nonfinite[last] ?? 0) > 0 ? "NaN or Inf" : formatNumber(norm.mean[last] ?? null);
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
