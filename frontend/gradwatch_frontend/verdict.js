/** The verdict on a run, in words: what to say at the top of its page. Pure: run and findings in, texts out. */

import { evidence } from "./schema.js";
import { formatCount, formatEvidence, formatNumber, formatPlural, formatShare, formatStep, formatValue, shortenPath } from "./format.js";

/** @typedef {import("./schema.js").Finding} Finding */
/** @typedef {import("./schema.js").Hypothesis} Hypothesis */
/** @typedef {import("./schema.js").RunSummary & {error?: string | null, streams?: {n_tensors: number}[]}} Run */
/** @typedef {"nonfinite" | "critical" | "warning" | "healthy" | "early"} Tone */
/**
 * @typedef {object} Verdict
 * @property {Tone} tone
 * @property {string} title
 * @property {string} why
 * @property {string} summary the evidence, in a sentence
 * @property {{text: string, isCause: boolean}[]} chain the order of onset
 * @property {OperationStep[]} operations the way from the operation that broke to the gradient
 * @property {[string, string][]} numbers what the rule looked at: name and value in words
 * @property {Finding["source"]} source
 * @property {Hypothesis[]} hypotheses the likeliest first
 * @property {Finding | null} finding
 * @property {string | null} error what the training script died of, or why a person stopped it
 * @property {boolean} isStopped whether a person stopped it
 */

/**
 * @typedef {object} OperationStep one operation on the way
 * @property {string} type
 * @property {string} name in the graph
 * @property {string} place its layer, as far as it is another than that of the step before
 * @property {string} spread how much of its output is not finite
 * @property {boolean} isGradient
 */

/** Before this many steps a calm run has not shown much: rolling medians are still filling. */
export const TOO_EARLY_STEPS = 50;

const NONFINITE_KINDS = new Set([
  "nonfinite_input",
  "nonfinite_activation",
  "nonfinite_loss",
  "nonfinite_gradient",
  "nonfinite_weight",
  "singular_gradient",
]);

/**
 * Says what colour a finding has: NaN and Inf have one of their own, once they are there and not only forecast.
 * @param {Finding} finding
 * @returns {Tone}
 */
export function findTone(finding) {
  const isForecast = finding.severity === "warning" && (finding.evidence.forecast ?? null) !== null;
  if (isForecast) return finding.severity;
  return NONFINITE_KINDS.has(finding.kind) ? "nonfinite" : finding.severity;
}

/**
 * Puts the state of a run into words.
 * @param {Run} run
 * @param {Finding[]} findings the leading one first
 * @param {number} [nDismissed] findings that a person dismissed, which are not among them
 * @returns {Verdict}
 */
export function describeVerdict(run, findings, nDismissed = 0) {
  const leading = findings[0];
  const error = run.error ?? null;
  const isStopped = run.state === "finished" && error !== null;
  if (leading !== undefined) return { ...describeFinding(leading), error, isStopped };
  const blank = { summary: "", chain: [], operations: [], numbers: [], source: null, hypotheses: [], finding: null, error, isStopped };
  if (nDismissed > 0) {
    const all = nDismissed === 1 ? "The one finding" : nDismissed === 2 ? "Both findings" : `All ${formatCount(nDismissed)} findings`;
    const why = `${all} in ${formatPlural((run.last_step ?? 0) + 1, "step")} ${nDismissed === 1 ? "was" : "were"} dismissed by a person: still listed, and not counted.`;
    return { ...blank, tone: "early", title: run.state === "live" ? "Nothing left to act on so far" : "Nothing left to act on", why };
  }
  if (run.state === "crashed") {
    return {
      ...blank,
      tone: "warning",
      title: run.last_step === null ? "The training stopped before its first step" : `The training stopped at step ${formatStep(run.last_step)}`,
      why: "It ended with an error of its own. Until then no gradient, weight or update gave cause for concern.",
    };
  }
  if (run.last_step === null) {
    return { ...blank, tone: "early", title: "Waiting for the first step", why: describeWait(run) };
  }
  const n = run.last_step + 1;
  if (n < TOO_EARLY_STEPS) {
    const [title, soFar] = run.state === "live" ? ["Too early to say", " so far"] : ["Too short to say much", ""];
    const why = `${formatPlural(n, "step")}${soFar}, all finite. What is usual for each layer is known after about ${TOO_EARLY_STEPS}.`;
    return { ...blank, tone: "early", title, why };
  }
  return { ...blank, tone: "healthy", ...describeHealth(run, n) };
}

/**
 * @param {Run} run
 * @returns {string}
 */
function describeWait(run) {
  if (run.state === "live") return "The training is connected. The first step often takes longest: TensorFlow traces and compiles it.";
  if (run.state === "lost_contact") return "The training connected and then fell silent before its first step.";
  return "The training ended before its first step.";
}

/**
 * @param {Run} run
 * @param {number} n steps
 * @returns {{title: string, why: string}}
 */
function describeHealth(run, n) {
  const tensors = (run.streams ?? []).reduce((sum, stream) => sum + stream.n_tensors, 0);
  const watched = tensors > 0 ? ` of ${formatPlural(tensors, "watched tensor")}` : "";
  const why = `In ${formatPlural(n, "step")}${watched}: everything finite, nothing exploding, nothing vanishing, no gradient missing.`;
  if (run.state === "live") return { title: "Healthy so far", why };
  if (run.state === "finished") return { title: run.error ? "Healthy until it was stopped" : "Healthy to the end", why };
  return { title: "Healthy when last heard of", why: `${why} The training has not been heard of since.` };
}

/**
 * @param {Finding} finding
 * @returns {Omit<Verdict, "error" | "isStopped">}
 */
function describeFinding(finding) {
  const { summary, chain, chain_operations } = evidence(finding.evidence);
  const hypotheses = [...finding.hypotheses].sort((a, b) => b.confidence - a.confidence);
  return {
    tone: findTone(finding),
    title: finding.title,
    why: hypotheses[0]?.why || hypotheses[0]?.cause || "",
    summary,
    chain: chain.map((link, i) => ({ text: describeLink(link), isCause: i === 0 })),
    operations: describeOperations(chain_operations),
    numbers: listNumbers(finding.evidence),
    source: finding.source,
    hypotheses,
    finding,
  };
}

/**
 * @param {{what: string, step: number | null}} link
 * @returns {string}
 */
function describeLink({ what, step }) {
  return step === null ? what : `${what} (step ${formatStep(step)})`;
}

/**
 * Puts the way from the culprit to the gradient into words; a layer is named where it changes.
 * @param {import("./schema.js").OperationLink[]} links
 * @returns {OperationStep[]}
 */
export function describeOperations(links) {
  return links.map(({ type, name, layer, is_gradient, n_nonfinite }, i) => ({
    type,
    name,
    place: layer === null || layer === links[i - 1]?.layer ? "" : shortenPath(layer, 40),
    spread: n_nonfinite === null ? "" : `${formatCount(n_nonfinite)} NaN or Inf`,
    isGradient: is_gradient,
  }));
}

/**
 * Where the way from the culprit leads: where nothing on it is of the backward pass, no further than to the loss.
 * @param {OperationStep[]} steps
 * @returns {string}
 */
export function describeEnd(steps) {
  return steps.some(({ isGradient }) => isGradient) ? "the gradients" : "the loss";
}

/**
 * Says whether what was changed after a finding helped, by the run that came next.
 * @param {import("./schema.js").Sequel} sequel
 * @param {Finding} finding
 * @returns {{text: string, outcome: "came_back" | "not_seen" | "too_short" | "none"}}
 */
export function describeSequel({ run, findings }, finding) {
  const found = findings.find(({ id }) => id === finding.id);
  if (run === null || found === undefined) return { outcome: "none", text: "Change it and run again: this place will say whether it came back." };
  const { outcome, n_steps, again } = found;
  const isLive = run.state === "live";
  const steps = `${formatPlural(n_steps, "step")}${isLive ? " so far" : ""}`;
  if (again !== null) {
    const other = again.kind === finding.kind ? "" : `: ${again.title}`;
    return { outcome, text: `It came back at step ${formatStep(again.first_step)} of the next run, ${run.name}${other}.` };
  }
  if (outcome === "not_seen") return { outcome, text: `Not seen in ${steps} of the next run, ${run.name}.` };
  return { outcome, text: `Too early to say: the next run, ${run.name}, has ${steps}; here it began at step ${formatStep(finding.first_step)}.` };
}

/** More rows than these are no summary; the two runs side by side show all. */
const MOST_SETTINGS = 6;

/**
 * What is not the same in the last healthy run: how it was set, and its numbers before the same step.
 * @param {import("./schema.js").Baseline} baseline
 * @returns {{name: string, rows: [string, string, string][], nMore: number} | null} each row what, there and here; null where there is no such run, or nothing to say
 */
export function describeBaseline({ run, config, step, values }) {
  if (run === null) return null;
  const settings = config.slice(0, MOST_SETTINGS).map(({ key, there, here }) => /** @type {[string, string, string]} */ ([key, formatValue(there), formatValue(here)]));
  const told = new Set(config.map(({ key }) => key.split(".").at(-1)));
  const numbers = values
    .filter(({ name, there, here }) => name !== "learning_rate" || (there !== here && !told.has(name)))
    .map(({ name, there, here }) => /** @type {[string, string, string]} */ ([`${name.replaceAll("_", " ")} before step ${formatStep(step ?? 0)}`, formatNumber(there), formatNumber(here)]));
  const rows = [...settings, ...numbers];
  return rows.length === 0 ? null : { name: run.name, rows, nMore: config.length - settings.length };
}

/**
 * The engine's own record, in a line; "" where it has forecast nothing yet.
 * @param {import("./schema.js").ForecastRecord} record
 * @returns {string}
 */
export function describeRecord({ counts, total }) {
  if (total === 0) return "";
  const open = counts.pending > 0 ? `, ${formatCount(counts.pending)} open` : "";
  return `forecasts so far: ${formatCount(counts.came_true)} came true, ${formatCount(counts.did_not)} did not${open}`;
}

/** Parts of the evidence that have their own place, or are said together with another. */
const WORDED = new Set(["summary", "chain", "flood", "chain_operations", "loss_state", "forecast", "early_warning"]);
/** Where a name on the wire is no word. @type {Record<string, string>} */
const NAMES = {
  n_rows: "steps looked at",
  loss_before: "loss before",
  weights_finite_step: "weights last seen finite at step",
  weights_lost_step: "weights lost since step",
  operation_step: "operations looked at in step",
  n_operations: "operations looked at",
  n_operations_broken: "operations with NaN or Inf",
  operation_is_origin: "made of finite inputs",
  n_outputs_nonfinite: "NaN or Inf in its output",
  n_singular: "inputs at the singular point",
  n_inputs: "inputs",
  margin: "distance to the singular point",
  amplification: "steepest slope",
  forward_operation: "slope of",
  update_ratio: "update ÷ weight",
  is_over: "is over",
  loss_is_false: "loss finite over broken weights",
  columns_step: "columns looked at in step",
  columns_n_nonfinite: "NaN or Inf in each of them",
  n_columns_nonfinite: "columns with NaN or Inf",
  n_rows_nonfinite: "rows of the batch with NaN or Inf",
  rows: "rows of the batch",
};

/**
 * The numbers that a rule looked at; what is unknown is left out, and so is what does not fit on a line.
 * @param {Record<string, unknown>} found
 * @returns {[string, string][]}
 */
export function listNumbers(found) {
  const state = typeof found.loss_state === "string" ? found.loss_state : null;
  return Object.entries(found).flatMap(([key, value]) => {
    const known = key === "loss" && state !== null ? state : value;
    const isEmpty = known === null || known === undefined || (Array.isArray(known) && known.length === 0) || (key === "loss_is_false" && known === false);
    if (WORDED.has(key) || isEmpty || JSON.stringify(known).length >= 160) return [];
    return [/** @type {[string, string]} */ ([NAMES[key] ?? key.replace(/^n_/, "number of ").replaceAll("_", " "), formatEvidence(key, known)])];
  });
}

/**
 * Splits a fix into lines and says which are taken out and which put in.
 * @param {string} code
 * @returns {{text: string, change: "out" | "in" | null}[]}
 */
export function readDiff(code) {
  return code
    .replace(/\s+$/, "")
    .split("\n")
    .map((text) => ({ text, change: /^-(?!-)/.test(text) ? "out" : /^\+(?!\+)/.test(text) ? "in" : null }));
}

/**
 * What Copy takes: of a diff the lines as they are to be, without signs, else all.
 * @param {string} code
 * @returns {string}
 */
export function readFix(code) {
  const lines = readDiff(code);
  if (!lines.some((line) => line.change !== null)) return code.replace(/\s+$/, "");
  return lines
    .filter((line) => line.change !== "out")
    .map((line) => line.text.replace(line.change === "in" ? /^\+ ?/ : /^ {2}/, ""))
    .join("\n");
}

/**
 * @param {number} confidence 0 to 1
 * @returns {string}
 */
export const describeConfidence = (confidence) => `confidence ${formatShare(confidence)}`;
