/** The verdict at the top of a run's page, as elements. What it says is decided in verdict.js. */

import { copyButton, h, prose } from "./dom.js";
import { formatValue, shortenPath } from "./format.js";
import { describeConfidence, readDiff, readFix } from "./verdict.js";

/** @typedef {import("./verdict.js").Verdict} Verdict */
/** @typedef {import("./schema.js").Hypothesis} Hypothesis */

/** Parts of the evidence that have their own place, or say nothing to a reader. */
const WORDED = new Set(["summary", "chain", "flood"]);

/**
 * Builds the card.
 * @param {Verdict} verdict
 * @returns {HTMLElement}
 */
export function buildVerdictCard(verdict) {
  const [best, ...others] = verdict.hypotheses;
  return h(
    "section",
    { class: `card verdict ${verdict.tone}`, "aria-label": "Verdict", "data-key": verdict.finding?.id ?? "none" },
    h(
      "div",
      { class: "verdict-words" },
      h("h1", {}, prose(verdict.title)),
      verdict.why !== "" && h("p", { class: "why" }, prose(verdict.why)),
      verdict.summary !== "" && h("p", { class: "muted" }, prose(verdict.summary)),
      buildChain(verdict),
      verdict.error !== null && buildError(verdict.error),
      buildEvidence(verdict),
      others.length > 0 && buildOthers(others),
    ),
    best !== undefined && buildFix(best, verdict.source),
  );
}

/** @param {Verdict} verdict */
function buildChain({ chain }) {
  if (chain.length < 2) return null; // one link is no chain
  const links = chain.map(({ text, isCause }) => h("li", { class: isCause ? "cause" : "" }, text));
  return h("ol", { class: "chain", "aria-label": "Order of onset" }, links);
}

/** @param {string} error */
function buildError(error) {
  const lines = error.trim().split("\n");
  const last = lines[lines.length - 1] ?? error;
  if (lines.length === 1) return h("p", { class: "error-line" }, "The script ended with ", h("code", {}, last));
  return h("details", { "data-key": "error" }, h("summary", {}, "The script ended with ", h("code", {}, last)), h("pre", {}, error.trim()));
}

/** @param {Verdict} verdict */
function buildEvidence({ finding }) {
  const entries = Object.entries(finding?.evidence ?? {}).filter(([key, value]) => !WORDED.has(key) && isShort(value));
  if (entries.length === 0) return null;
  const items = entries.flatMap(([key, value]) => [h("dt", {}, key.replaceAll("_", " ")), h("dd", {}, formatValue(value))]);
  return h("details", { "data-key": "evidence" }, h("summary", {}, "Numbers behind this"), h("dl", { class: "facts" }, items));
}

/**
 * @param {unknown} value
 * @returns {boolean} whether it fits on a line
 */
const isShort = (value) => JSON.stringify(value).length < 160;

/**
 * @param {Hypothesis} hypothesis
 * @param {Verdict["source"]} source
 */
function buildFix(hypothesis, source) {
  const { code, fix } = hypothesis;
  const place = source === null ? null : `${shortenPath(source.file, 48)}${source.line === null ? "" : `:${source.line}`}`;
  return h(
    "div",
    { class: "fix", "data-key": code ?? "" }, // Copy takes the code it was built with
    h(
      "div",
      { class: "fix-head" },
      h("h2", {}, "What to change"),
      h("span", { class: "muted small-text" }, describeConfidence(hypothesis.confidence)),
      code !== null && code !== "" && copyButton(() => readFix(code), "Copy the fix"),
    ),
    fix !== "" && h("p", {}, prose(fix)),
    code !== null && code !== "" && buildCode(code, place, source),
  );
}

/**
 * @param {string} code
 * @param {string | null} place
 * @param {Verdict["source"]} source where the finding points
 */
function buildCode(code, place, source) {
  const line = source?.code ?? null;
  const lines = readDiff(code).map(({ text, change }) => h("span", { class: change === null ? "line" : `line ${change}` }, `${text}\n`));
  return h(
    "pre",
    { class: "code", tabindex: "0" },
    place !== null && h("span", { class: "line muted", title: source?.file }, `${place}\n`),
    line !== null && !code.includes(line.trim()) && h("span", { class: "line muted" }, `${line.trim()}\n`),
    lines,
  );
}

/** @param {Hypothesis[]} others */
function buildOthers(others) {
  return h(
    "details",
    { "data-key": "others" },
    h("summary", {}, others.length === 1 ? "Another possible cause" : `${others.length} other possible causes`),
    others.map((other) =>
      h(
        "div",
        { class: "other" },
        h("p", {}, h("b", {}, prose(other.cause)), h("span", { class: "muted" }, ` · ${describeConfidence(other.confidence)}`)),
        other.why !== "" && h("p", { class: "muted" }, prose(other.why)),
        other.fix !== "" && h("p", {}, prose(other.fix)),
        other.code !== null && other.code !== "" && buildCode(other.code, null, null),
      ),
    ),
  );
}
