/**
 * The page of one run: verdict, charts, findings, the picked layer, facts. Owns what is shown of which steps; its parts are in
 * pages/run/. State in the query: kind, statistic, order, scale, worker, replica, tensor, from, to, finding.
 */

import { ApiError, fetchBaseline, fetchColumns, fetchFindings, fetchNext, fetchRun, fetchRuns, fetchTensors } from "../api.js";
import { RunChart } from "../charts/run_chart.js";
import { OWN_SCALE, SHARE_SCALE, chooseScale } from "../charts/scale.js";
import { holdRow, orderByTrouble } from "../columns.js";
import { fill, h } from "../dom.js";
import { formatStep } from "../format.js";
import { bindKeys } from "../keys.js";
import { dismiss, report } from "../notice.js";
import { RunNumbers } from "../numbers.js";
import { askReview, isDismissed, undoReview } from "../review.js";
import { comparePath } from "../router.js";
import { describeVerdict, findTone } from "../verdict.js";
import { buildVerdictCard } from "../verdict_card.js";
import { Choices } from "./run/choices.js";
import { FactsCard } from "./run/facts.js";
import { FindingsCard } from "./run/findings.js";
import { buildBroken, buildRanges } from "./run/inputs.js";
import { LayerCard } from "./run/layer.js";
import { RunTop } from "./run/top.js";
import { buildUnknown } from "./unknown.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../schema.js").RunDetail} RunDetail */
/** @typedef {import("../schema.js").Finding} Finding */
/** @typedef {import("../schema.js").TensorTable} TensorTable */

const FOLLOW_MS = 500;
/** Catching up may take a third of the time at most, so that a slow server is not driven harder. */
const FOLLOW_SHARE = 3;
/** Cells that a heatmap may have, so that a live one of 500 tensors stays quick. */
const MOST_CELLS = 200_000;
const LEAST_COLUMNS = 200;
/** What stands left and right of the heatmap. */
const MARGINS_PX = 234;

/**
 * @param {Context} context
 * @param {string} id
 * @param {URLSearchParams} query
 * @returns {import("../main.js").Page}
 */
export function openRun(context, id, query) {
  document.title = "Run · gradwatch";
  const page = new RunPage(context, id, query);
  void page.load();
  return page;
}

class RunPage {
  /** @type {RunDetail | null} */
  #run = null;
  /** @type {Finding[]} */
  #findings = [];
  /** Which finding the verdict tells of; null is the leading one. @type {string | null} */
  #told;
  /** The run after this one, and what became there of the findings. @type {import("../schema.js").Sequel | null} */
  #sequel = null;
  /** The last healthy run before this one. @type {import("../schema.js").Baseline | null} */
  #baseline = null;
  /** @type {TensorTable} */
  #tensors = { tensors: [], scalars: [] };
  /** @type {Map<string, number | null>} */
  #sizes = new Map();
  /** Of the input that the verdict is about. @type {{finding: string, step: number | null, columns: import("../schema.js").InputColumns} | null} */
  #inputs = null;
  /** @type {number | null} */
  #stepsPerS = null;
  /** @type {string | null} */
  #picked;
  /** @type {number | null} */
  #from;
  /** @type {number | null} */
  #to;
  #isPaused = false;
  #isFollowing = false;
  #isClosed = false;
  /** Messages that told more than progress. */
  #nHeard = 0;
  /** The step up to which numbers were fetched. @type {number | null} */
  #shownStep = null;
  #followedAt = 0;
  #followTook = 0;
  /** @type {(() => void)[]} */
  #ends = [];
  /** @type {RunChart | null} */
  #chart = null;

  /**
   * @param {Context} context
   * @param {string} id
   * @param {URLSearchParams} query
   */
  constructor(context, id, query) {
    this.context = context;
    this.id = id;
    this.numbers = new RunNumbers(id);
    this.#picked = query.get("tensor");
    this.#told = query.get("finding");
    this.#from = readStep(query.get("from"));
    this.#to = readStep(query.get("to"));
    this.choices = new Choices(query, (change) => this.#choose(change));
    this.verdict = h("div", { class: "verdict-place" });
    this.findings = new FindingsCard((finding) => this.#open(finding.id));
    this.layer = new LayerCard(id, { step: (by) => this.#pickNext(by), pick: (tensor, kind) => this.#pickShown(tensor, kind) });
    this.facts = new FactsCard(id, (run) => this.#takeRun(run));
    this.top = new RunTop(context, id, { togglePause: () => this.#togglePause(), compare: () => void this.#compareWithHealthy() });
    this.layer.chart.onZoom = (range) => this.#zoom(range);
    this.layer.chart.onHover = (step) => this.#chart?.pointAt(step);
  }

  /** Fetches the run, then its numbers. */
  async load() {
    try {
      const [run, { findings }, tensors] = await this.#fetchRun();
      if (this.#isClosed) return;
      this.#run = run;
      this.#findings = findings;
      this.#takeTensors(tensors);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        document.title = "Unknown run · gradwatch";
        this.context.root.replaceChildren(buildUnknown("There is no such run", this.id, error.advice));
      } else report(error);
      return;
    }
    this.#build();
    this.#listen();
    this.#bind();
    this.#draw();
    void this.top.cost.refresh(true);
    void this.#loadNeighbours();
    await this.#reload();
    await this.#loadInputs();
  }

  #fetchRun() {
    return Promise.all([fetchRun(this.id), fetchFindings(this.id), fetchTensors(this.id)]);
  }

  /** @param {TensorTable} tensors */
  #takeTensors(tensors) {
    this.#tensors = tensors;
    this.#sizes = new Map(tensors.tensors.map(({ tensor, n_elements }) => [tensor, n_elements]));
    this.choices.offer(new Set(tensors.tensors.flatMap(({ kinds }) => kinds)), this.#parts);
  }

  /** The processes and the devices that train it, where there are several. */
  get #parts() {
    const streams = this.#run?.streams ?? [];
    const sort = (/** @type {number[]} */ numbers) => [...new Set(numbers)].sort((a, b) => a - b);
    return { workers: sort(streams.map(({ worker }) => worker)), replicas: sort(streams.flatMap(({ replica }) => (replica === null ? [] : [replica]))) };
  }

  #build() {
    const box = h("div", { class: "run-chart", tabindex: "0", role: "group", "data-arrows": true, "aria-label": "Loss, learning rate, heatmap of layers by steps, and steps with NaN or Inf. Use j and k to go through the layers; their figures stand beside." });
    this.legend = h("div", { class: "legend" });
    this.zoomed = h("button", { type: "button", class: "button small", hidden: true, onclick: () => this.#zoom(null) }, "Show all steps");
    this.context.root.append(
      h("div", { class: "run-page" },
        this.verdict,
        h("div", { class: "main-column" },
          h("section", { class: "card chart-card", "aria-label": "Every layer, every step" }, h("div", { class: "chart-head" }, this.choices.element, this.zoomed), box, this.legend),
          this.facts.element),
        h("aside", { class: "side" }, this.findings.element, this.layer.element),
      ),
    );
    this.#chart = new RunChart(box);
    this.#chart.onPick = (tensor) => this.#pick(tensor);
    this.#chart.onFinding = (id) => this.#open(id);
    this.#chart.onZoom = (range) => this.#zoom(range);
    this.#chart.onHover = (step) => this.layer.chart.pointAt(step);
    this.#chart.plot.onError = (error) => report(error, "numbers");
    this.layer.chart.plot.onError = (error) => report(error, "panel");
  }

  #listen() {
    const { live } = this.context;
    const timer = setInterval(() => void this.#follow(), FOLLOW_MS / 2);
    this.#ends.push(live.listen((message) => this.#hear(message)), () => clearInterval(timer));
    live.subscribe([this.id]);
    // Whoever changes the script and trains again comes back to this page to see whether it helped.
    const look = () => document.hidden || void this.#loadNeighbours();
    document.addEventListener("visibilitychange", look);
    this.#ends.push(() => document.removeEventListener("visibilitychange", look));
  }

  #bind() {
    const next = () => this.#pickNext(1);
    const previous = () => this.#pickNext(-1);
    bindKeys([
      { keys: ["j", "ArrowDown"], words: "next layer", run: next },
      { keys: ["k", "ArrowUp"], words: "previous layer", run: previous },
      { keys: ["o"], words: "order by depth or by trouble", run: () => this.choices.toggleOrder() },
      { keys: ["p"], words: "pause, or follow the training", run: () => this.#togglePause() },
      { keys: ["a"], words: "show all steps", run: () => this.#zoom(null) },
    ]);
  }

  /** @param {import("../live.js").LiveMessage} message */
  #hear(message) {
    const run = this.#run;
    if (run === null) return;
    if (message.type === "subscribed") void this.#refreshRun(); // what came before it was not heard
    else if (message.type === "progress" && message.run_id === this.id) {
      Object.assign(run, { last_step: message.last_step, cost: message.cost ?? run.cost, n_rows_lost: message.n_rows_lost });
      this.#stepsPerS = message.steps_per_s;
      this.#draw();
    } else if (message.type === "run" && message.run.id === this.id) {
      this.#nHeard += 1;
      this.#takeRun(message.run);
      if (message.run.state !== "live") void this.#refreshRun();
    } else if (message.type === "findings" && message.run_id === this.id) {
      this.#nHeard += 1;
      this.#findings = message.findings;
      this.#draw();
      this.#drawCharts();
    } else if (message.type === "deleted" && message.run_id === this.id) {
      this.context.root.replaceChildren(buildUnknown("This run was deleted", run.name, "It was deleted while you looked at it."));
      this.close();
    }
  }

  /** @param {Partial<RunDetail>} change */
  #takeRun(change) {
    if (this.#run === null) return;
    this.#run = { ...this.#run, ...change };
    this.#draw();
  }

  /**
   * Fetches what no message says (the run's error, its streams, tensors that came since), and what was said while nobody
   * listened. An answer is older than what was heard while it was on its way.
   */
  async #refreshRun() {
    try {
      const nHeard = this.#nHeard;
      const [run, { findings }, tensors] = await this.#fetchRun();
      if (this.#isClosed) return;
      if (nHeard !== this.#nHeard) return void this.#refreshRun();
      this.#findings = findings;
      this.#takeTensors(tensors);
      const heard = this.#run?.last_step ?? null;
      this.#takeRun({ ...run, last_step: heard === null ? run.last_step : Math.max(heard, run.last_step ?? 0) });
    } catch (error) {
      report(error);
    }
  }

  /** Fetches new steps, if there are any, nothing holds them back, and the last time is long enough ago. */
  async #follow() {
    const last = this.#run?.last_step ?? null;
    if (last === null || last === this.#shownStep || this.#isPaused || this.#isFollowing || document.hidden) return;
    if (this.#to !== null || this.context.live.state !== "open") return;
    if (performance.now() - this.#followedAt < Math.max(FOLLOW_MS, FOLLOW_SHARE * this.#followTook)) return;
    this.#isFollowing = true;
    const started = performance.now();
    try {
      if (this.#tensors.tensors.length === 0 || this.numbers.loss === null) this.#takeTensors(await fetchTensors(this.id));
      if (this.#shownStep === null) await this.#reload();
      else {
        await this.numbers.follow(last);
        this.#shownStep = last;
        this.#drawCharts();
        await Promise.all([this.#loadLayer(), this.top.cost.refresh()]);
      }
      void this.#loadInputs();
      dismiss("numbers");
    } catch (error) {
      report(error, "numbers");
    } finally {
      this.#isFollowing = false;
      this.#followedAt = performance.now();
      this.#followTook = this.#followedAt - started;
    }
  }

  /** Fetches all numbers of the view. */
  async #reload() {
    const last = this.#run?.last_step ?? null;
    if (last === null) return;
    this.#isFollowing = true;
    const { kind, statistic, worker, replica } = this.choices.query;
    const widthPx = (this.#chart?.element.clientWidth ?? 800) - MARGINS_PX;
    const columns = Math.max(LEAST_COLUMNS, Math.min(widthPx, Math.floor(MOST_CELLS / Math.max(1, this.#tensors.tensors.length))));
    this.#chart?.element.classList.add("loading");
    try {
      await this.numbers.load({ kind, statistic, from: this.#from, to: this.#to, columns, worker, replica }, this.#tensors.scalars);
      if (this.#isClosed) return;
      this.#shownStep = last;
      this.#pickFirst();
      this.#drawCharts();
      dismiss("numbers");
      await this.#loadLayer();
    } catch (error) {
      report(error, "numbers");
    } finally {
      this.#chart?.element.classList.remove("loading");
      this.#isFollowing = false;
    }
  }

  /** Something always stands at the side: what was picked, or its layer; else the layer of the verdict, else the first. */
  #pickFirst() {
    const { heatmap } = this.numbers;
    if (heatmap === null || (this.#picked !== null && heatmap.tensors.includes(this.#picked))) return;
    const wanted = [this.#picked, ...this.#findings.flatMap(({ tensor, layer }) => [tensor, layer])];
    this.#picked = this.#findShown(wanted) ?? heatmap.tensors[this.#order()[0] ?? 0] ?? null;
  }

  /**
   * Finds a row of the heatmap for the first of some tensors or layers that has one, by itself or by its layer.
   * @param {(string | null)[]} wanted
   * @returns {string | null}
   */
  #findShown(wanted) {
    const shown = new Set(this.numbers.heatmap?.tensors);
    const layers = new Map(this.#tensors.tensors.map(({ tensor, layer }) => [tensor, layer]));
    /** @type {Map<string, string>} */
    const first = new Map();
    for (const tensor of shown) {
      const layer = layers.get(tensor) ?? "";
      if (layer !== "" && !first.has(layer)) first.set(layer, tensor);
    }
    for (const name of wanted) {
      if (name === null) continue;
      const found = shown.has(name) ? name : first.get(layers.get(name) ?? name);
      if (found !== undefined) return found;
    }
    return null;
  }

  /** @returns {number[]} */
  #order() {
    const { heatmap } = this.numbers;
    if (heatmap === null) return [];
    return this.choices.state.order === "trouble" ? orderByTrouble(heatmap) : heatmap.tensors.map((_, i) => i);
  }

  /** @param {string} tensor */
  #pick(tensor) {
    this.#picked = tensor;
    this.context.router.remember({ tensor });
    this.#drawCharts();
    void this.#loadLayer();
  }

  /**
   * Picks a tensor at the side, if the heatmap shows it.
   * @param {string} tensor
   * @param {string} kind
   * @returns {boolean}
   */
  #pickShown(tensor, kind) {
    const isShown = kind === this.choices.query.kind && (this.numbers.heatmap?.tensors.includes(tensor) ?? false);
    if (isShown) this.#pick(tensor);
    return isShown;
  }

  /** @param {number} by rows down */
  #pickNext(by) {
    const { heatmap } = this.numbers;
    if (heatmap === null) return;
    const tensors = this.#order().map((row) => heatmap.tensors[row] ?? "");
    const here = tensors.indexOf(this.#picked ?? "");
    const next = tensors[Math.min(tensors.length - 1, Math.max(0, here + by))];
    if (next !== undefined) this.#pick(next);
  }

  /** @param {{reload: boolean}} change */
  #choose({ reload }) {
    this.context.router.remember(this.choices.remembered);
    if (reload) void this.#reload();
    else this.#drawCharts();
  }

  /** @param {[number, number] | null} range first step and end */
  #zoom(range) {
    const end = (this.#run?.last_step ?? 0) + 1;
    this.#from = range === null || range[0] <= 0 ? null : range[0];
    // A range that reaches the present goes on with it.
    this.#to = range === null || range[1] >= end ? null : range[1];
    this.context.router.remember({ from: this.#from, to: this.#to });
    if (range === null) this.#chart?.resetRows();
    void this.#reload();
  }

  #togglePause() {
    this.#isPaused = !this.#isPaused;
    this.#draw();
  }

  /**
   * Opens a finding: the verdict tells of it, and the charts show what shows it, around its onset.
   * @param {string} id
   */
  #open(id) {
    const finding = this.#findings.find((each) => each.id === id);
    if (finding === undefined) return;
    const { from, to } = finding.view;
    this.#told = id;
    this.choices.show(finding.view);
    this.#picked = finding.tensor ?? finding.layer ?? this.#picked;
    this.context.router.remember({ ...this.choices.remembered, finding: id, tensor: this.#picked });
    this.#draw();
    this.#zoom([from ?? 0, to ?? (this.#run?.last_step ?? 0) + 1]);
    void this.#loadInputs();
    this.verdict.scrollIntoView({ block: "nearest" });
  }

  async #loadNeighbours() {
    try {
      [this.#sequel, this.#baseline] = await Promise.all([fetchNext(this.id), fetchBaseline(this.id)]);
      if (!this.#isClosed) this.#draw();
    } catch (error) {
      report(error, "panel");
    }
  }

  /** The finding that the verdict tells of. @returns {Finding | null} */
  get #leading() {
    return this.#findings.find(({ id }) => id === this.#told) ?? this.#findings.find((finding) => !isDismissed(finding)) ?? null;
  }

  /** Which columns and rows of an input are broken, where the verdict is about an input. */
  async #loadInputs() {
    const finding = this.#leading;
    const isInput = finding !== null && finding.tensor !== null && this.#tensors.tensors.some(({ tensor, kinds }) => tensor === finding.tensor && kinds.includes("input"));
    if (!isInput || finding.tensor === null) {
      if (this.#inputs !== null) {
        this.#inputs = null;
        this.#draw();
      }
      return;
    }
    if (this.#inputs?.finding === finding.id && this.#inputs.step === this.#shownStep) return;
    try {
      const columns = await fetchColumns(this.id, { tensor: finding.tensor, from: finding.first_step, worker: this.choices.state.worker });
      if (this.#isClosed || this.#leading?.id !== finding.id) return;
      this.#inputs = { finding: finding.id, step: this.#shownStep, columns };
      this.#draw();
    } catch (error) {
      report(error, "panel");
    }
  }

  /** @returns {[number, number]} first step and end of what is shown */
  #range() {
    const { heatmap, nonfinite } = this.numbers;
    const first = this.#from ?? heatmap?.steps[0] ?? 0;
    const end = this.#to ?? Math.max(heatmap?.step_end ?? 1, nonfinite?.step_end ?? 1);
    return [first, Math.max(end, first + 1)];
  }

  async #loadLayer() {
    const { kind, worker, replica } = this.choices.query;
    const info = this.#tensors.tensors.find(({ tensor }) => tensor === this.#picked);
    // What has no layer, such as an input, stands for itself.
    const family = info === undefined ? [] : info.layer === "" ? [info] : this.#tensors.tensors.filter(({ layer }) => layer === info.layer);
    await this.layer.load({ tensor: this.#picked, kind, family, range: this.#range(), from: this.#from, to: this.#to, worker, replica });
  }

  #drawCharts() {
    const { heatmap, nonfinite, loss, validation, rate, correlations } = this.numbers;
    if (heatmap === null || nonfinite === null) return;
    const { scale } = this.choices.state;
    this.#chart?.draw({
      heatmap, nonfinite, loss, validation, rate, correlations, sizes: this.#sizes, picked: this.#picked, range: this.#range(),
      order: this.#order(),
      scale: this.choices.isShare ? SHARE_SCALE : scale === "own" ? OWN_SCALE : chooseScale(heatmap),
      quantity: this.choices.quantity,
      told: this.#leading?.id ?? null,
      findings: this.#findings.filter((finding) => !isDismissed(finding)).map((finding) => {
        const tone = findTone(finding);
        return { id: finding.id, title: finding.title, first: finding.first_step, last: finding.last_step, tone: tone === "nonfinite" || tone === "critical" ? tone : "warning" };
      }),
    });
    this.#drawLegend(heatmap);
    this.zoomed?.toggleAttribute("hidden", this.#from === null && this.#to === null);
  }

  /**
   * Explains only what is there to be seen.
   * @param {import("../schema.js").Heatmap} heatmap
   */
  #drawLegend(heatmap) {
    if (this.legend === undefined) return;
    const has = (/** @type {(number | null)[][]} */ block) => block.some((row) => row.some((cell) => (cell ?? 0) > 0));
    const perColumn = heatmap.downsampled_by;
    const hasBlank = heatmap.statistic === "saturated_share" && heatmap.values.some((row) => row.every((value) => value === null));
    const isThinned = heatmap.tensors.some((_, row) => holdRow(heatmap, row).isHeld.includes(true));
    fill(
      this.legend,
      has(heatmap.n_nonfinite) && h("span", {}, h("i", { class: "swatch nonfinite" }), "NaN or Inf"),
      has(heatmap.missing) && h("span", {}, h("i", { class: "swatch missing" }), "no gradient reaches this variable"),
      isThinned && h("span", {}, "Captured now and then, to keep the hook cheap; a value stands until the next. Ticks above the rows, where they fit, are the steps captured."),
      hasBlank && h("span", {}, "A blank row is a layer without an activation function that goes flat."),
      perColumn > 1 && h("span", {}, `Each column is ${formatStep(perColumn)} steps and keeps the most extreme; drag across to look closer.`),
    );
  }

  #draw() {
    const run = this.#run;
    if (run === null) return;
    document.title = `${run.name} · gradwatch`;
    const counted = this.#findings.filter((finding) => !isDismissed(finding));
    const leading = this.#leading;
    const verdict = describeVerdict(run, leading === null ? [] : [leading], this.#findings.length - counted.length);
    this.verdict.dataset.tone = verdict.tone;
    fill(this.verdict, buildVerdictCard(verdict, {
      inputs: this.#buildInputs(),
      showOnset: run.last_step === null ? null : () => verdict.finding && this.#open(verdict.finding.id),
      reviewing: leading === null ? null : this.#buildReviewing(leading.id),
      sequel: this.#sequel, comparePath: this.#sequel?.run ? comparePath([this.id, this.#sequel.run.id]) : null,
      baseline: this.#baseline, baselinePath: this.#baseline?.run ? comparePath([this.id, this.#baseline.run.id]) : null,
    }));
    this.findings.draw(this.#findings, leading?.id ?? null, this.#parts.workers.length > 1);
    this.facts.draw(run);
    const kinds = new Set(/** @type {string[]} */ (this.#tensors.tensors.flatMap((each) => each.kinds)));
    this.top.draw(run, { stepsPerS: this.#stepsPerS, isPaused: this.#isPaused, kinds });
  }

  /**
   * @param {string} id of the finding
   * @returns {import("../verdict_card.js").Reviewing}
   */
  #buildReviewing(id) {
    const find = () => this.#findings.find((finding) => finding.id === id);
    const take = (/** @type {Finding} */ changed) => {
      if (isDismissed(changed) && this.#told === id) this.#told = null;
      this.#findings = this.#findings.map((finding) => (finding.id === id ? changed : finding));
      this.#draw();
      this.#drawCharts();
    };
    return {
      ask: (state) => {
        const finding = find();
        if (finding !== undefined) askReview(this.id, finding, state, take);
      },
      undo: () => {
        const finding = find();
        if (finding !== undefined) void undoReview(this.id, finding, take);
      },
    };
  }

  #buildInputs() {
    const found = this.#inputs;
    if (found === null || found.finding !== this.#leading?.id) return null;
    return h("div", {}, buildBroken(found.columns),
      h("details", { "data-key": "ranges" }, h("summary", {}, "Range of each column"), buildRanges(found.columns)));
  }

  async #compareWithHealthy() {
    try {
      const { runs } = await fetchRuns({ project: this.#run?.project ?? "", limit: 100 });
      const healthy = runs.find(({ id, health, last_step }) => id !== this.id && health.level === "healthy" && last_step !== null);
      if (healthy !== undefined) return this.context.router.go(comparePath([this.id, healthy.id]));
      report(new ApiError("no_healthy_run", `The project “${this.#run?.project ?? ""}” has no other run without findings.`, 200));
    } catch (error) {
      report(error);
    }
  }

  close() {
    this.#isClosed = true;
    for (const end of this.#ends) end();
    this.#ends = [];
    this.numbers.close();
    this.#chart?.close();
    this.layer.close();
    this.top.close();
  }
}

/**
 * @param {string | null} text
 * @returns {number | null}
 */
function readStep(text) {
  const step = Number(text);
  return text !== null && text !== "" && Number.isInteger(step) && step >= 0 ? step : null;
}
