/** The verdict at the top of a run's page, as elements. What it says is decided in verdict.js. */

import { copyButton, h, prose } from "./dom.js";
import { formatPlural, formatStep, shortenPath } from "./format.js";
import { buildReviewButtons, buildReviewLine } from "./review.js";
import { describeBaseline, describeConfidence, describeEnd, describeSequel, readDiff, readFix } from "./verdict.js";

/** @typedef {import("./verdict.js").Verdict} Verdict */
/** @typedef {import("./schema.js").Hypothesis} Hypothesis */
/** @typedef {import("./schema.js").Sequel} Sequel */
/** @typedef {import("./schema.js").Baseline} Baseline */
/** @typedef {{ask: (state: import("./schema.js").Review["state"]) => void, undo: () => void}} Reviewing */

/** A longer way is folded in the middle. */
const MOST_OPERATIONS = 6;
const FIRST_OPERATIONS = 3;
const LAST_OPERATIONS = 2;

/**
 * Builds the card.
 * @param {Verdict} verdict
 * @param {{inputs?: HTMLElement | null, showOnset?: (() => void) | null, sequel?: Sequel | null, comparePath?: string | null, baseline?: Baseline | null, baselinePath?: string | null, reviewing?: Reviewing | null}} [more]
 *   tables beside the finding, how its onset is shown, what came of it in the next run, where the two runs stand side by side, the last healthy run before it and where it stands beside this one, and how a person says what it is
 * @returns {HTMLElement}
 */
export function buildVerdictCard(verdict, { inputs = null, showOnset = null, sequel = null, comparePath = null, baseline = null, baselinePath = null, reviewing = null } = {}) {
  const [best, ...others] = verdict.hypotheses;
  const { finding } = verdict;
  return h(
    "section",
    { class: `card verdict ${verdict.tone}${finding !== null && finding.review !== null ? " reviewed" : ""}`, "aria-label": "Verdict", "data-key": finding?.id ?? "none" },
    h(
      "div",
      { class: "verdict-words" },
      finding !== null && buildReviewLine(finding, reviewing?.undo ?? null),
      h("h1", {}, prose(verdict.title)),
      verdict.why !== "" && h("p", { class: "why" }, prose(verdict.why)),
      verdict.summary !== "" && h("p", { class: "muted" }, prose(verdict.summary)),
      h("div", { class: "onset" }, buildChain(verdict), finding !== null && showOnset !== null && h("button", { type: "button", class: "button small", onclick: showOnset }, `Zoom to step ${formatStep(finding.first_step)}`), finding !== null && reviewing !== null && buildReviewButtons(finding, reviewing.ask)),
      buildOperations(verdict),
      inputs,
      verdict.error !== null && buildError(verdict.error, verdict.isStopped),
      finding !== null && baseline !== null && buildBaseline(baseline, baselinePath),
      buildEvidence(verdict),
      others.length > 0 && buildOthers(others),
    ),
    best !== undefined && buildFix(best, verdict.source, finding !== null && sequel !== null ? buildSequel(describeSequel(sequel, finding), comparePath) : null),
  );
}

/** @param {Verdict} verdict */
function buildChain({ chain }) {
  if (chain.length < 2) return null; // one link is no chain
  const links = chain.map(({ text, isCause }) => h("li", { class: isCause ? "cause" : "" }, text));
  return h("ol", { class: "chain", "aria-label": "Order of onset" }, links);
}

/**
 * @param {string} error
 * @param {boolean} isStopped
 */
function buildError(error, isStopped) {
  if (isStopped) return h("p", { class: "error-line" }, error);
  const lines = error.trim().split("\n");
  const last = lines[lines.length - 1] ?? error;
  if (lines.length === 1) return h("p", { class: "error-line" }, "The script ended with ", h("code", {}, last));
  return h("details", { "data-key": "error" }, h("summary", {}, "The script ended with ", h("code", {}, last)), h("pre", {}, error.trim()));
}

/**
 * The way from the operation that broke to the gradients, or to the loss, one below the other.
 * @param {Verdict} verdict
 */
function buildOperations({ operations }) {
  if (operations.length < 2) return null;
  const build = (/** @type {import("./verdict.js").OperationStep} */ { type, name, place, spread, isGradient }, isCause = false) =>
    h("li", { class: isCause ? "cause" : "", title: name },
      h("span", {}, h("code", {}, type), place !== "" && h("span", { class: "muted" }, ` in ${place}`), !isGradient && h("span", { class: "muted" }, " (forward)")),
      h("span", { class: "muted number" }, spread));
  const end = describeEnd(operations);
  const isFolded = operations.length > MOST_OPERATIONS;
  const first = operations.slice(0, isFolded ? FIRST_OPERATIONS : operations.length);
  const middle = isFolded ? operations.slice(FIRST_OPERATIONS, -LAST_OPERATIONS) : [];
  const last = isFolded ? operations.slice(-LAST_OPERATIONS) : [];
  return h("div", { class: "way" },
    h("h2", {}, `From the operation to ${end}`),
    h("ol", { class: "operations", "aria-label": "Operations" },
      first.map((step, i) => build(step, i === 0)),
      middle.length > 0 && h("li", { class: "folded" }, h("details", { "data-key": "operations" }, h("summary", {}, formatPlural(middle.length, "more operation")), h("ol", {}, middle.map((step) => build(step))))),
      last.map((step) => build(step)),
      h("li", { class: "muted" }, h("span", {}, end))));
}

/** @param {Verdict} verdict */
function buildEvidence({ numbers }) {
  if (numbers.length === 0) return null;
  const items = numbers.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
  return h("details", { "data-key": "evidence" }, h("summary", {}, "Numbers behind this"), h("dl", { class: "facts" }, items));
}

/**
 * @param {Hypothesis} hypothesis
 * @param {Verdict["source"]} source
 * @param {HTMLElement | null} sequel
 */
function buildFix(hypothesis, source, sequel) {
  const { code, fix } = hypothesis;
  return h(
    "div",
    { class: "fix", "data-key": code ?? "" }, // Copy takes the code it was built with
    source !== null && buildSource(source, code ?? ""),
    h(
      "div",
      { class: "fix-head" },
      h("h2", {}, "What to change"),
      h("span", { class: "muted small-text" }, describeConfidence(hypothesis.confidence)),
      code !== null && code !== "" && copyButton(() => readFix(code), "Copy the fix"),
    ),
    fix !== "" && h("p", {}, prose(fix)),
    code !== null && code !== "" && buildCode(code),
    sequel,
  );
}

/**
 * What is not the same in the last healthy run.
 * @param {Baseline} baseline
 * @param {string | null} path
 */
function buildBaseline(baseline, path) {
  const told = describeBaseline(baseline);
  if (told === null) return null;
  return h("div", { class: "baseline" },
    h("h2", {}, "Against the last healthy run, ", path === null ? told.name : h("a", { href: path, title: "Compare the two runs" }, told.name)),
    h("table", { class: "small-table" },
      h("thead", {}, h("tr", {}, h("th", {}), h("th", { scope: "col" }, "there"), h("th", { scope: "col" }, "here"))),
      h("tbody", {}, told.rows.map(([what, there, here]) => h("tr", {}, h("th", { scope: "row" }, what), h("td", { class: "number" }, there), h("td", { class: "number" }, here))))),
    told.nMore > 0 && h("p", { class: "muted small-text" }, `${formatPlural(told.nMore, "more setting")} differ.`));
}

/**
 * Whether the change helped, as far as the next run tells.
 * @param {ReturnType<typeof describeSequel>} sequel
 * @param {string | null} comparePath
 */
function buildSequel({ text, outcome }, comparePath) {
  return h("div", { class: `sequel ${outcome}` },
    h("h2", {}, "Did it help?"),
    h("p", {}, prose(text)),
    outcome !== "none" && comparePath !== null && h("a", { class: "button small", href: comparePath }, "Compare the two runs"));
}

/**
 * The user's own lines, to be found again in the editor.
 * @param {NonNullable<Verdict["source"]>} source
 * @param {string} fix in which the line may stand already
 */
function buildSource({ file, line, code, excerpt }, fix) {
  const place = `${file}${line === null ? "" : `:${line}`}`;
  const isSaid = code === null || code.trim() === "" || fix.includes(code.trim());
  const lines = excerpt !== null ? trimLines(excerpt.lines) : isSaid ? [] : [code.trim()];
  const first = excerpt?.first ?? line;
  return h("div", { class: "source" },
    h("div", { class: "fix-head" }, h("h2", {}, "Where"), h("code", { class: "muted small-text", title: place }, shortenPath(place, 44)), copyButton(() => place, "Copy the place")),
    lines.length > 0 && h("pre", { class: "code", tabindex: "0" }, lines.map((text, i) => buildSourceLine(text, first === null ? null : first + i, line))));
}

/**
 * @param {string} text
 * @param {number | null} number
 * @param {number | null} culprit the number of the line that is meant
 */
function buildSourceLine(text, number, culprit) {
  const isCulprit = number === null || number === culprit;
  return h("span", { class: isCulprit ? "line excerpt culprit" : "line excerpt" },
    number !== null && h("span", { class: "line-number", "aria-hidden": "true" }, String(number)), `${text}\n`);
}

/**
 * Moves lines to the left by what all of them are indented by; blank ones at the end say nothing.
 * @param {string[]} lines
 * @returns {string[]}
 */
function trimLines(lines) {
  const indents = lines.filter((text) => text.trim() !== "").map((text) => text.length - text.trimStart().length);
  const least = Math.min(...indents, 1000);
  const n = lines.findLastIndex((text) => text.trim() !== "") + 1;
  return lines.slice(0, n).map((text) => text.slice(least));
}

/** @param {string} code */
function buildCode(code) {
  const lines = readDiff(code).map(({ text, change }) => h("span", { class: change === null ? "line" : `line ${change}` }, `${text}\n`));
  return h(
    "pre",
    { class: "code", tabindex: "0" },
    lines,
  );
}

/** @param {Hypothesis[]} others */
function buildOthers(others) {
  return h(
    "details",
    { "data-key": "others" },
    h("summary", {}, others.length === 1 ? "Another possible cause" : `${others.length} other possible causes`),
    h("p", { class: "muted small-text" }, "A confidence is of its cause alone: they are no shares of a whole, and several causes may be true at once."),
    others.map((other) =>
      h(
        "div",
        { class: "other" },
        h("p", {}, h("b", {}, prose(other.cause)), h("span", { class: "muted" }, ` · ${describeConfidence(other.confidence)}`)),
        other.why !== "" && h("p", { class: "muted" }, prose(other.why)),
        other.fix !== "" && h("p", {}, prose(other.fix)),
        other.code !== null && other.code !== "" && buildCode(other.code),
      ),
    ),
  );
}
