/** The list of runs: which are healthy at a glance, which to open, which to compare. State in the query: search, project, state. */

import { deleteRun, fetchRecord, fetchRuns } from "../api.js";
import { loadFigure } from "../charts/plot.js";
import { drawSparkline } from "../charts/sparkline.js";
import { copyButton, fill, h, prose } from "../dom.js";
import { formatAgo, formatMoment, formatPlural, formatStep } from "../format.js";
import { bindKeys } from "../keys.js";
import { report } from "../notice.js";
import { comparePath, runPath } from "../router.js";
import { STATES } from "../schema.js";
import { currentTheme, watchTheme } from "../theme.js";
import { TOO_EARLY_STEPS, describeRecord } from "../verdict.js";

/** @typedef {import("../schema.js").RunSummary} RunSummary */
/** @typedef {import("../main.js").Context} Context */

/** Where the hook looks for a server by itself. */
const USUAL_ADDRESSES = new Set(["http://127.0.0.1:8470", "http://localhost:8470"]);
const PAGE_SIZE = 50;
const REFRESH_MS = 4000;
const SEARCH_DELAY_MS = 200;
const MOST_COMPARED = 8;

/** @type {Record<string, string>} */
export const STATE_WORDS = { live: "live", finished: "finished", crashed: "crashed", lost_contact: "lost contact" };

/**
 * @param {Context} context
 * @param {URLSearchParams} query
 * @returns {import("../main.js").Page}
 */
export function openRuns(context, query) {
  document.title = "Runs · gradwatch";
  const page = new RunsPage(context, query);
  void page.refresh();
  return page;
}

class RunsPage {
  /** @type {RunSummary[]} */
  #runs = [];
  #total = 0;
  /** The engine's own record. */
  #record = "";
  #limit = PAGE_SIZE;
  /** @type {Set<string>} */
  #picked = new Set();
  /** @type {Set<string>} */
  #projects = new Set();
  /** @type {import("../charts/plot.js").Specification | null} */
  #specification = null;
  #isFirst = true;
  #isStale = false;
  #controller = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #searching;
  /** @type {(() => void)[]} */
  #ends = [];

  /**
   * @param {Context} context
   * @param {URLSearchParams} query
   */
  constructor(context, query) {
    this.context = context;
    this.filter = { search: query.get("search") ?? "", project: query.get("project") ?? "", state: query.get("state") ?? "" };
    this.search = h("input", {
      type: "search", placeholder: "Search names and tags", "aria-label": "Search runs", value: this.filter.search,
      oninput: () => this.#searchSoon(),
    });
    this.project = h("select", { "aria-label": "Project", onchange: () => this.#changeFilter() });
    this.state = h("select", { "aria-label": "State", onchange: () => this.#changeFilter() },
      h("option", { value: "" }, "Any state"),
      STATES.map((state) => h("option", { value: state, selected: state === this.filter.state }, STATE_WORDS[state])),
    );
    this.count = h("span", { class: "muted" });
    this.compare = h("button", { type: "button", class: "button primary", disabled: true, onclick: () => this.#compare() }, "Compare");
    this.tools = h("div", { class: "toolbar", hidden: true }, this.search, this.project, this.state, this.count, this.compare);
    this.body = h("div", {});
    context.root.append(h("h1", { class: "off-screen" }, "Runs"), this.tools, this.body);
    this.#listen();
    this.#bind();
  }

  #listen() {
    const { live } = this.context;
    const timer = setInterval(() => {
      if (document.hidden) return;
      if (this.#isStale || this.#runs.some((run) => run.state === "live")) void this.refresh();
      else this.#draw(); // "3 min ago" grows old
    }, REFRESH_MS);
    this.#ends.push(
      live.listen((message) => this.#hear(message)),
      watchTheme(() => void this.#loadSpecification().then(() => this.#draw())),
      () => clearInterval(timer),
    );
    live.subscribe("all");
  }

  #bind() {
    bindKeys([
      { keys: ["j", "ArrowDown"], words: "next run", run: () => this.#move(1) },
      { keys: ["k", "ArrowUp"], words: "previous run", run: () => this.#move(-1) },
      { keys: ["x"], words: "choose the run for a comparison", run: () => this.#chooseFocused() },
      { keys: ["c"], words: "compare the chosen runs", run: () => this.#compare() },
      { keys: ["/"], words: "search", run: () => this.search.focus() },
    ]);
  }

  /** @param {number} by rows down */
  #move(by) {
    const links = /** @type {HTMLElement[]} */ ([...this.body.querySelectorAll("a.run-name")]);
    const here = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    links[Math.min(links.length - 1, Math.max(0, here + by))]?.focus();
  }

  #chooseFocused() {
    const box = document.activeElement?.closest("tr")?.querySelector("input[type=checkbox]");
    if (box instanceof HTMLInputElement) box.click();
  }

  /** @param {import("../live.js").LiveMessage} message */
  #hear(message) {
    if (message.type === "subscribed") {
      void this.refresh(); // what came before it was not heard
      return;
    }
    if (message.type === "deleted") {
      this.#runs = this.#runs.filter((run) => run.id !== message.run_id);
      this.#picked.delete(message.run_id);
      this.#isStale = true;
    } else if (message.type === "run") {
      const i = this.#runs.findIndex((run) => run.id === message.run.id);
      const old = this.#runs[i];
      if (old === undefined) {
        void this.refresh();
        return;
      }
      this.#runs[i] = { ...message.run, sparkline: message.run.sparkline ?? old.sparkline };
    } else if (message.type === "progress") {
      const run = this.#runs.find((each) => each.id === message.run_id);
      if (run === undefined) return;
      run.last_step = message.last_step;
    } else {
      return;
    }
    this.#draw();
  }

  #searchSoon() {
    clearTimeout(this.#searching);
    this.#searching = setTimeout(() => this.#changeFilter(), SEARCH_DELAY_MS);
  }

  #changeFilter() {
    this.filter = { search: this.search.value.trim(), project: this.project.value, state: this.state.value };
    this.#limit = PAGE_SIZE;
    this.context.router.remember(this.filter);
    void this.refresh();
  }

  async #loadSpecification() {
    this.#specification = await loadFigure("sparkline", currentTheme());
  }

  /** Fetches the list again. */
  async refresh() {
    this.#controller.abort();
    this.#controller = new AbortController();
    try {
      const [{ runs, total }, record] = await Promise.all([
        fetchRuns({ ...this.filter, limit: this.#limit }, this.#controller.signal),
        fetchRecord(this.#controller.signal),
        this.#specification === null ? this.#loadSpecification() : null,
      ]);
      this.#runs = runs;
      this.#total = total;
      this.#record = describeRecord(record);
      this.#isFirst = false;
      this.#isStale = false;
      for (const run of runs) this.#projects.add(run.project);
      this.#draw();
    } catch (error) {
      report(error);
      this.#isStale = true;
    }
  }

  #draw() {
    if (this.#isFirst) return;
    const isFiltered = Object.values(this.filter).some((value) => value !== "");
    const isEmpty = this.#runs.length === 0 && !isFiltered;
    this.tools.hidden = isEmpty;
    if (isEmpty) return this.#drawEmpty();
    this.#drawTools();
    if (this.#runs.length === 0) {
      fill(this.body, h("section", { class: "card empty", "data-key": "none" }, h("h2", {}, "No run fits"), h("p", { class: "muted" }, "Search and filters leave nothing over."), h("p", {}, h("a", { class: "button", href: "/" }, "Show all runs"))));
      return;
    }
    fill(
      this.body,
      h(
        "div",
        { class: "card flush", "data-key": "list" },
        h(
          "table",
          { class: "runs", "data-arrows": true },
          h("thead", {}, h("tr", {}, ["", "Run", "Health", "Loss", "Gradient norm", "Step", "Started", ""].map((title) => h("th", { scope: "col" }, title)))),
          h("tbody", {}, this.#runs.map((run) => this.#buildRow(run))),
        ),
      ),
      this.#total > this.#runs.length &&
        h("p", { class: "more" }, h("button", { type: "button", class: "button", onclick: () => this.#showMore() }, `Show more of ${formatPlural(this.#total, "run")}`)),
    );
  }

  #showMore() {
    this.#limit += PAGE_SIZE;
    void this.refresh();
  }

  #drawTools() {
    const projects = [...new Set([...this.#projects, ...(this.filter.project === "" ? [] : [this.filter.project])])].sort();
    fill(
      this.project,
      h("option", { value: "" }, "All projects"),
      projects.map((project) => h("option", { value: project, selected: project === this.filter.project }, project)),
    );
    this.project.hidden = projects.length < 2;
    this.count.textContent = [formatPlural(this.#total, "run"), this.#record].filter(Boolean).join(" · ");
    this.compare.disabled = this.#picked.size < 2 || this.#picked.size > MOST_COMPARED;
    this.compare.textContent = this.#picked.size < 2 ? "Choose two to compare" : `Compare ${this.#picked.size} runs`;
    if (this.#picked.size > MOST_COMPARED) this.compare.textContent = `At most ${MOST_COMPARED} can be compared`;
  }

  /** @param {RunSummary} run */
  #buildRow(run) {
    const checked = this.#picked.has(run.id);
    const box = h("input", { type: "checkbox", checked, "aria-label": `Choose ${run.name} for a comparison`, onchange: () => this.#pick(run.id) });
    return h(
      "tr",
      { "data-key": run.id, "data-run": run.id, class: checked ? "picked" : "", onclick: (/** @type {MouseEvent} */ event) => this.#openRow(event, run.id) },
      h("td", { class: "choose" }, h("label", {}, box)),
      h(
        "td",
        { class: "name" },
        h("a", { class: "run-name", href: runPath(run.id) }, run.name),
        h("div", { class: "muted small-text" }, run.project, run.tags.map((tag) => h("span", { class: "tag" }, tag))),
      ),
      h("td", { class: "health" }, buildHealth(run)),
      h("td", {}, this.#buildSparkline(run, "loss", "loss")),
      h("td", {}, this.#buildSparkline(run, "gradient_norm", "global gradient norm")),
      h("td", { class: "step" }, h("div", { class: "number" }, formatStep(run.last_step)), buildState(run.state)),
      h("td", { class: "muted started" }, h("time", { datetime: run.started_at, title: formatMoment(run.started_at) }, formatAgo(run.started_at, Date.now()))),
      h("td", {}, h("button", { type: "button", class: "button icon quiet delete", title: "Delete", "aria-label": `Delete ${run.name}`, onclick: () => this.#confirmDelete(run.id) }, "✕")),
    );
  }

  /**
   * @param {RunSummary} run
   * @param {"loss" | "gradient_norm"} role
   * @param {string} words
   */
  #buildSparkline(run, role, words) {
    const values = run.sparkline?.[role] ?? [];
    const states = role === "loss" ? (run.sparkline?.loss_state ?? []) : [];
    if (this.#specification === null || (values.every((value) => value === null) && states.every((state) => state === null))) {
      return h("span", { class: "muted" }, "—");
    }
    return drawSparkline(this.#specification, role, values, states, `${words} of ${run.name}`);
  }

  /**
   * A click anywhere in a row opens it, save where there is something else to click or a text to select.
   * @param {MouseEvent} event
   * @param {string} id
   */
  #openRow(event, id) {
    const isTaken = event.target instanceof Element && event.target.closest("a, button, label, input") !== null;
    if (!isTaken && String(getSelection()) === "") this.context.router.go(runPath(id));
  }

  /** @param {string} id */
  #pick(id) {
    if (!this.#picked.delete(id)) this.#picked.add(id);
    this.#draw();
  }

  #compare() {
    if (this.#picked.size >= 2 && this.#picked.size <= MOST_COMPARED) this.context.router.go(comparePath([...this.#picked]));
  }

  /** @param {string} id */
  #confirmDelete(id) {
    const run = this.#runs.find((each) => each.id === id);
    if (run === undefined) return;
    const dialog = h(
      "dialog",
      { class: "card", "aria-label": `Delete ${run.name}` },
      h("h2", {}, `Delete “${run.name}”?`),
      h("p", {}, run.last_step === null ? "It has no steps yet." : `Its ${formatPlural(run.last_step + 1, "step")} and all findings go for good.`),
      run.state === "live" && h("p", {}, "Its training is still running; it goes on, unwatched."),
      h(
        "form",
        { method: "dialog", class: "buttons" },
        h("button", { class: "button", value: "keep", autofocus: true }, "Keep it"),
        h("button", { class: "button danger", value: "delete" }, "Delete"),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue === "delete") void this.#delete(run.id);
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  /** @param {string} id */
  async #delete(id) {
    try {
      await deleteRun(id);
      this.#picked.delete(id);
      await this.refresh();
    } catch (error) {
      report(error);
    }
  }

  #drawEmpty() {
    const line = "gradwatch.watch(model)";
    fill(
      this.body,
      h(
        "section",
        { class: "card empty welcome", "data-key": "welcome" },
        h("h1", {}, "No run yet"),
        h("p", {}, "Add one line to your training script, after the model is built:"),
        h("div", { class: "one-line" }, h("pre", { class: "code" }, "import gradwatch\n", h("b", {}, line)), copyButton(() => `import gradwatch\n${line}`, "Copy the line")),
        h("p", {}, "Start the training, and this page fills by itself, live."),
        !USUAL_ADDRESSES.has(location.origin) && h("div", { class: "stack" },
          h("p", { class: "muted" }, "This server is not at the usual address, so tell the training where it is:"),
          h("div", { class: "one-line" }, h("pre", { class: "code" }, `export GRADWATCH_URL=${location.origin}`), copyButton(() => `export GRADWATCH_URL=${location.origin}`, "Copy the address")),
        ),
        h("p", { class: "muted" }, "Or look at one that is already broken:"),
        h("div", { class: "one-line" }, h("pre", { class: "code" }, "gradwatch demo"), copyButton(() => "gradwatch demo", "Copy the command")),
      ),
    );
  }

  close() {
    this.#controller.abort();
    clearTimeout(this.#searching);
    for (const end of this.#ends) end();
  }
}

/**
 * Health in a mark and words: a colour alone would not do.
 * @param {RunSummary} run
 * @returns {HTMLElement}
 */
export function buildHealth({ health, last_step }) {
  if (health.level === "healthy") {
    const words = last_step === null ? "no step yet" : last_step + 1 < TOO_EARLY_STEPS ? "too few steps to say" : "healthy";
    return h("span", { class: "health-line" }, h("span", { class: `dot ${words === "healthy" ? words : "early"}` }), words);
  }
  const isKnown = health.n_open === 0; // somebody has acknowledged all of it
  const more = health.n_findings > 1 ? h("span", { class: "muted" }, ` and ${health.n_findings - 1} more`) : null;
  return h("span", { class: isKnown ? "health-line reviewed" : "health-line" },
    h("span", { class: `dot ${health.level}`, title: health.level }),
    h("span", {}, prose(health.title ?? health.level), more, isKnown && h("span", { class: "muted" }, " · acknowledged")));
}

/**
 * @param {RunSummary["state"]} state
 * @returns {HTMLElement}
 */
export function buildState(state) {
  return h("span", { class: `state ${state}` }, STATE_WORDS[state] ?? state);
}
