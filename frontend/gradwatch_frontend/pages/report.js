/** A report as a page: the verdict on top, each finding with the charts that show it, the whole run, its facts. Asks nobody. */

import { fetchColumns } from "../api.js";
import { LinesChart } from "../charts/lines_chart.js";
import { RunChart } from "../charts/run_chart.js";
import { SHARE_SCALE, chooseScale } from "../charts/scale.js";
import { SHARES } from "../columns.js";
import { fill, h, prose } from "../dom.js";
import { formatMoment, formatPlural, formatStep, formatStepRange } from "../format.js";
import { RunNumbers, fetchTensorNumbers } from "../numbers.js";
import { toggleTheme } from "../theme.js";
import { describeVerdict, findTone } from "../verdict.js";
import { buildVerdictCard } from "../verdict_card.js";
import { buildTable, listFacts } from "./run/facts.js";
import { nameQuantity } from "./run/choices.js";
import { buildBroken, buildRanges } from "./run/inputs.js";
import { buildState } from "./runs.js";

/** @typedef {import("../schema.js").Report} Report */
/** @typedef {import("../schema.js").ReportView} ReportView */
/** @typedef {import("../schema.js").Finding} Finding */

/**
 * Builds the page.
 * @param {Report} report
 */
export function showReport(report) {
  const { run, findings, views } = report;
  document.getElementById("top")?.append(...buildTop(report));
  const shown = new Map(views.map((view) => [view.finding, view]));
  const leading = findings.length === 0 ? [buildVerdict(report, null)] : [];
  const whole = shown.get(null);
  document.getElementById("page")?.append(
    h("div", { class: "report-page" },
      leading,
      findings.length > 1 && buildContents(findings),
      findings.map((finding) => buildFinding(report, finding, shown.get(finding.id) ?? null)),
      whole !== undefined && h("section", { class: "report-part", id: "whole-run" }, h("h2", {}, "The whole run"), buildCharts(report, whole)),
      h("section", { class: "report-part" }, h("h2", {}, "Run"), buildFacts(report)),
      h("footer", { class: "muted small-text" },
        `Made by gradwatch ${report.gradwatch} on ${formatMoment(report.made_at)} from run ${run.id}. All that is shown is in this file; nothing was fetched.`)));
}

/** @param {Report} report */
function buildTop({ run, made_at }) {
  return [
    h("span", { class: "wordmark" }, "gradwatch"),
    h("div", { class: "place" },
      h("span", { class: "place-words" }, h("span", { class: "run-title", title: run.name }, run.name),
        h("span", { class: `pill ${run.state}` }, buildState(run.state), run.last_step !== null && h("span", { class: "number" }, ` · step ${formatStep(run.last_step)}`)),
        h("span", { class: "muted small-text nowrap" }, `as of ${formatMoment(made_at)}`))),
    h("div", { class: "tools" }, h("button", { type: "button", class: "button icon", title: "Light or dark", "aria-label": "Light or dark", onclick: toggleTheme }, "◐")),
  ];
}

/**
 * @param {Report} report
 * @param {Finding | null} finding
 */
function buildVerdict({ run, next, baseline, findings }, finding, inputs = /** @type {HTMLElement | null} */ (null)) {
  const isLeading = finding === null || finding === findings[0];
  // What the script died of is said once, at the top.
  const verdict = describeVerdict({ ...run, error: isLeading ? run.error : null }, finding === null ? [] : [finding]);
  return h("div", { class: "verdict-place", "data-tone": verdict.tone }, buildVerdictCard(verdict, { inputs, sequel: next, baseline: isLeading ? baseline : null }));
}

/** @param {Finding[]} findings */
function buildContents(findings) {
  return h("nav", { class: "card", "aria-label": "Findings" },
    h("h2", {}, formatPlural(findings.length, "finding")),
    h("ol", { class: "findings" }, findings.map((finding) =>
      h("li", {}, h("a", { class: "finding", href: `#${anchor(finding.id)}` },
        h("span", { class: `dot ${findTone(finding)}`, title: finding.severity }),
        h("span", {}, h("span", { class: "finding-title" }, prose(finding.title)), h("span", { class: "muted small-text" }, `step ${formatStep(finding.first_step)}`)))))));
}

/**
 * @param {Report} report
 * @param {Finding} finding
 * @param {ReportView | null} view
 */
function buildFinding(report, finding, view) {
  const inputs = h("div", {});
  if (view !== null && view.kind === "input" && view.tensor !== null) void fillInputs(report, { ...view, tensor: view.tensor }, inputs);
  return h("section", { class: "report-part", id: anchor(finding.id) },
    buildVerdict(report, finding, inputs),
    view === null ? h("p", { class: "muted small-text" }, "The first findings have charts in a report; this one is seen on the run's page.") : buildCharts(report, view));
}

/**
 * @param {Report} report
 * @param {ReportView & {tensor: string}} view
 * @param {HTMLElement} place
 */
async function fillInputs({ run }, { tensor, from, to }, place) {
  const columns = await fetchColumns(run.id, { tensor, from, to });
  fill(place, buildBroken(columns), h("details", {}, h("summary", {}, "Range of each column"), buildRanges(columns)));
}

/** @param {string} id of a finding */
const anchor = (id) => `finding-${id.replace(/[^\w-]+/g, "-")}`;

/**
 * The charts of a view: all tensors over its steps, and the lines of the one that the finding is about.
 * @param {Report} report
 * @param {ReportView} view
 */
function buildCharts(report, view) {
  const chart = new ViewChart(report, view);
  void chart.load();
  return chart.element;
}

class ViewChart {
  #report;
  #view;
  #numbers;
  /** Steps that the reader looks closer at. @type {[number, number] | null} */
  #zoom = null;

  /**
   * @param {Report} report
   * @param {ReportView} view
   */
  constructor(report, view) {
    this.#report = report;
    this.#view = view;
    this.#numbers = new RunNumbers(report.run.id);
    const box = h("div", { class: "run-chart" });
    const lines = h("div", { class: "lines-chart" });
    this.steps = h("span", { class: "muted small-text number" });
    this.reset = h("button", { type: "button", class: "button small", hidden: true, onclick: () => this.#look(null) }, "Show all steps");
    this.side = h("section", { class: "card", hidden: view.tensor === null, "aria-label": "Lines" }, h("h2", { class: "path" }, view.tensor ?? ""), lines);
    this.element = h("div", { class: view.tensor === null ? "charts" : "charts with-lines" },
      h("section", { class: "card chart-card", "aria-label": "Every layer" },
        h("div", { class: "chart-head" }, h("b", {}, nameQuantity(view)), this.steps, this.reset), box),
      this.side);
    this.chart = new RunChart(box);
    this.lines = new LinesChart(lines);
    this.chart.onZoom = (range) => this.#look(range);
    this.lines.onZoom = (range) => this.#look(range);
    this.chart.onHover = (step) => this.lines.pointAt(step);
    this.lines.onHover = (step) => this.chart.pointAt(step);
    this.chart.onFinding = (id) => document.getElementById(anchor(id))?.scrollIntoView({ behavior: "smooth" });
  }

  async load() {
    const { kind, statistic, from, to, tensor } = this.#view;
    const { run, scalars, tensors } = this.#report;
    const everywhere = { worker: null, replica: null };
    await this.#numbers.load({ kind, statistic, from, to, columns: 1, ...everywhere }, scalars);
    this.#draw();
    if (tensor === null) return;
    const hasUpdate = tensors.find((each) => each.tensor === tensor)?.kinds.includes("update") ?? false;
    this.tensorNumbers = await fetchTensorNumbers(run.id, { tensor, kind, hasUpdate, from, to, ...everywhere }, new AbortController().signal);
    this.#draw();
  }

  /** @param {[number, number] | null} range */
  #look(range) {
    const [first, end] = this.#whole();
    this.#zoom = range === null ? null : [Math.max(first, range[0]), Math.min(end, range[1])];
    if (range === null) this.chart.resetRows();
    this.#draw();
  }

  /** @returns {[number, number]} */
  #whole() {
    const { heatmap, nonfinite } = this.#numbers;
    const first = this.#view.from ?? heatmap?.steps[0] ?? 0;
    const end = this.#view.to ?? Math.max(heatmap?.step_end ?? 1, nonfinite?.step_end ?? 1);
    return [first, Math.max(end, first + 1)];
  }

  #draw() {
    const { heatmap, nonfinite, loss, validation, rate, correlations } = this.#numbers;
    if (heatmap === null || nonfinite === null) return;
    const { findings, tensors } = this.#report;
    const { finding, statistic, tensor } = this.#view;
    const range = this.#zoom ?? this.#whole();
    this.steps.textContent = formatStepRange(range[0], range[1]);
    this.reset.hidden = this.#zoom === null;
    this.chart.draw({
      heatmap, nonfinite, loss, validation, rate, correlations, range, picked: tensor,
      order: heatmap.tensors.map((_, i) => i),
      sizes: new Map(tensors.map((each) => [each.tensor, each.n_elements])),
      scale: statistic in SHARES ? SHARE_SCALE : chooseScale(heatmap),
      quantity: nameQuantity(this.#view),
      told: finding,
      findings: findings.map(placeFinding),
    });
    if (this.tensorNumbers !== undefined) this.lines.draw({ ...this.tensorNumbers, range });
  }
}

/**
 * @param {Finding} finding
 * @returns {import("../charts/timeline.js").TimelineFinding}
 */
function placeFinding(finding) {
  const tone = findTone(finding);
  return { id: finding.id, title: finding.title, first: finding.first_step, last: finding.last_step, tone: tone === "nonfinite" || tone === "critical" ? tone : "warning" };
}

/** @param {Report} report */
function buildFacts({ run }) {
  return h("section", { class: "card", "aria-label": "Facts" },
    h("div", { class: "run-facts" },
      h("dl", { class: "facts" }, run.tags.length > 0 && [h("dt", {}, "tags"), h("dd", {}, run.tags.join(", "))], listFacts(run)),
      h("div", {}, buildTable("Config", run.config, true), buildTable("Environment", run.environment, true))));
}
