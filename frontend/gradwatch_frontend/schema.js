/** The shapes of the contract (docs/contract.md), as validators; the page's types follow from them. Owns no request. */

import { boolean, fullNumbers, list, nullable, number, numbers, object, oneOf, optional, record, string, unknown } from "./validate.js";

export const KINDS = /** @type {const} */ (["gradient", "weight", "update", "activation", "backprop", "input", "slot", "operation"]);
export const STATES = /** @type {const} */ (["live", "finished", "crashed", "lost_contact"]);

/** What a scalar was where it has no number. */
const scalarState = nullable(oneOf("nan", "+inf", "-inf"));

const health = object({
  level: oneOf("healthy", "warning", "critical"),
  n_findings: number,
  n_open: optional(nullable(number), null),
  title: nullable(string),
});

const sparkline = object({
  loss: numbers,
  loss_state: optional(list(scalarState), []),
  gradient_norm: numbers,
});

const summary = {
  id: string,
  name: string,
  project: string,
  state: oneOf(...STATES),
  started_at: string,
  ended_at: optional(nullable(string), null),
  last_step: nullable(number),
  tags: list(string),
  config: optional(record, {}),
  environment: optional(record, {}),
  n_rows_lost: optional(number, 0),
  n_skipped: optional(number, 0),
  cost: optional(nullable(number), null),
  url: optional(nullable(string), null),
  health,
  sparkline: optional(nullable(sparkline), null),
};

export const runSummary = object(summary);
export const runList = object({ runs: list(runSummary), total: number });
export const runDetail = object({
  ...summary,
  error: optional(nullable(string), null),
  streams: optional(list(object({ stream: number, optimizer: string, n_tensors: number, worker: optional(number, 0), replica: optional(nullable(number), null) })), []),
});

const tensors = list(
  object({
    tensor: string,
    layer: string,
    variable: string,
    activation: optional(nullable(string), null),
    kinds: list(oneOf(...KINDS)),
    shape: list(nullable(number)),
    dtype: string,
    n_elements: nullable(number),
    optimizer: optional(nullable(string), null),
    depth: nullable(number),
  }),
);
export const tensorTable = object({ tensors, scalars: list(string) });

export const series = object({
  tensor: string,
  kind: string,
  statistic: optional(nullable(string), null),
  steps: fullNumbers,
  min: numbers,
  mean: numbers,
  max: numbers,
  n_nonfinite: optional(numbers, []),
  times: optional(numbers, []),
  state: optional(list(scalarState), []),
  downsampled_by: optional(number, 1),
});

export const heatmap = object({
  kind: string,
  statistic: string,
  tensors: list(string),
  steps: fullNumbers,
  step_end: number,
  values: list(numbers),
  n_nonfinite: list(numbers),
  missing: list(numbers),
  downsampled_by: optional(number, 1),
});

export const nonfinite = object({
  steps: fullNumbers,
  step_end: number,
  gradient: numbers,
  weight: numbers,
  update: numbers,
  loss: numbers,
  downsampled_by: optional(number, 1),
});

/** What is known of each column of an input, over the steps asked for. */
export const inputColumns = object({
  tensor: string,
  n_columns: number,
  n_steps: number,
  first_step: nullable(number),
  last_step: nullable(number),
  n_nonfinite: numbers,
  n_steps_nonfinite: numbers,
  min: numbers,
  max: numbers,
  rows: list(object({ step: number, worker: optional(nullable(number), null), rows: fullNumbers, n_rows: number })),
});

/** How often full statistics are taken, each entry from its step on. */
export const captureHistory = object({
  capture: list(
    object({
      step: number,
      period: number,
      every: optional(number, 1),
      kinds: optional(list(string), []),
      until_step: optional(nullable(number), null),
      cost: optional(nullable(number), null),
      reason: optional(nullable(string), null),
      worker: optional(nullable(number), null),
    }),
  ),
});

export const controlAccepted = object({ id: unknown, run_id: string, not_captured: optional(list(string), []) });

const hypothesis = object({
  cause: string,
  confidence: number,
  why: optional(string, ""),
  fix: optional(string, ""),
  code: optional(nullable(string), null),
});

const review = object({ state: oneOf("acknowledged", "dismissed"), note: optional(string, ""), at: string });

/** Where on the Run page something is seen. */
const view = { kind: string, statistic: string, from: nullable(number), to: nullable(number) };

export const finding = object({
  id: string,
  kind: string,
  severity: oneOf("warning", "critical"),
  first_step: number,
  last_step: nullable(number),
  title: string,
  layer: nullable(string),
  tensor: nullable(string),
  operation: optional(nullable(object({ type: string, name: string })), null),
  source: optional(
    nullable(
      object({
        file: string,
        line: nullable(number),
        code: optional(nullable(string), null),
        excerpt: optional(nullable(object({ first: number, lines: list(string) })), null),
      }),
    ),
    null,
  ),
  evidence: record,
  hypotheses: list(hypothesis),
  worker: optional(nullable(number), null),
  review: optional(nullable(review), null),
  view: object(view),
});

/** The run after a run, and what became there of each finding. */
export const sequel = object({
  run: nullable(runSummary),
  findings: list(
    object({
      id: string,
      outcome: oneOf("came_back", "not_seen", "too_short"),
      n_steps: number,
      again: nullable(object({ id: string, kind: string, first_step: number, title: string })),
    }),
  ),
});

/** The last healthy run before a run, and what is not the same there. */
export const baseline = object({
  run: nullable(runSummary),
  config: list(object({ key: string, there: unknown, here: unknown })),
  step: nullable(number),
  values: list(object({ name: string, there: number, here: number })),
});

export const findings = object({ findings: list(finding) });

/** How many of the engine's forecasts came true. */
export const forecastRecord = object({ total: number, counts: object({ came_true: number, did_not: number, pending: number }) });
/** @typedef {ReturnType<typeof forecastRecord>} ForecastRecord */

/** The parts of a finding's evidence that the page words itself; the rest is shown as it came. */
export const evidence = object({
  summary: optional(string, ""),
  chain: optional(list(object({ what: string, step: nullable(number), n: optional(nullable(number), null) })), []),
  flood: optional(list(object({ kind: string, first_step: number, n_tensors: number })), []),
  chain_operations: optional(
    list(
      object({
        type: string,
        name: string,
        layer: optional(nullable(string), null),
        is_gradient: optional(boolean, false),
        n_nonfinite: optional(nullable(number), null),
      }),
    ),
    [],
  ),
});

/** Who is told of what, and how the newest try went. */
export const alert = object({
  id: string,
  name: string,
  project: nullable(string),
  channel: oneOf("webhook", "slack", "discord", "email"),
  target: string,
  severity: oneOf("warning", "critical"),
  kinds: list(string),
  debounce_s: number,
  n_waiting: optional(number, 0),
  last: optional(nullable(object({ state: oneOf("sent", "failed", "waiting"), error: nullable(string), at: string })), null),
});
export const alertList = object({ alerts: list(alert), has_mail: boolean });
export const alertTested = object({ id: string, took_s: number });

export const comparison = object({
  runs: list(runSummary),
  config: list(object({ key: string, values: list(unknown), differs: (value) => value === true })),
  tensors: list(string),
  series: object({ loss: list(nullable(series)), gradient_norm: list(nullable(series)) }),
});

export const figure = object({ data: list(record), layout: record });

/** A run to hand on: what its page shows, with the answers that hold its numbers. */
export const report = object({
  gradwatch: string,
  made_at: string,
  run: runDetail,
  findings: list(finding),
  next: sequel,
  baseline,
  tensors,
  scalars: list(string),
  views: list(object({ ...view, finding: nullable(string), tensor: nullable(string) })),
  answers: record,
});

export const apiError = object({ code: string, message: string, detail: unknown });

const progress = object({
  type: oneOf("progress"),
  run_id: string,
  last_step: nullable(number),
  steps_per_s: optional(nullable(number), null),
  cost: optional(nullable(number), null),
  n_rows_lost: optional(number, 0),
});

const byType = {
  subscribed: object({ type: oneOf("subscribed") }),
  run: object({ type: oneOf("run"), run: runSummary }),
  deleted: object({ type: oneOf("deleted"), run_id: string }),
  progress,
  findings: object({ type: oneOf("findings"), run_id: string, findings: list(finding) }),
  error: object({ type: oneOf("error"), code: string, message: string }),
};

/** @typedef {ReturnType<(typeof byType)[keyof typeof byType]>} LiveMessage */

/**
 * Takes a message of `/ws/live`.
 * @param {unknown} value
 * @returns {LiveMessage | null} null for a type that this page does not know yet
 */
export function liveMessage(value) {
  const type = string(record(value, "message").type, "message.type");
  const validator = Object.hasOwn(byType, type) ? byType[/** @type {keyof typeof byType} */ (type)] : null;
  return validator === null ? null : validator(value, type);
}

/** @typedef {ReturnType<typeof runSummary>} RunSummary */
/** @typedef {ReturnType<typeof runDetail>} RunDetail */
/** @typedef {ReturnType<typeof tensorTable>} TensorTable */
/** @typedef {TensorTable["tensors"][number]} Tensor */
/** @typedef {ReturnType<typeof series>} Series */
/** @typedef {ReturnType<typeof heatmap>} Heatmap */
/** @typedef {ReturnType<typeof nonfinite>} Nonfinite */
/** @typedef {ReturnType<typeof inputColumns>} InputColumns */
/** @typedef {ReturnType<typeof captureHistory>["capture"][number]} Cadence */
/** @typedef {ReturnType<typeof evidence>["chain_operations"][number]} OperationLink */
/** @typedef {ReturnType<typeof finding>} Finding */
/** @typedef {NonNullable<Finding["review"]>} Review */
/** @typedef {Finding["hypotheses"][number]} Hypothesis */
/** @typedef {ReturnType<typeof sequel>} Sequel */
/** @typedef {Sequel["findings"][number]} Outcome */
/** @typedef {ReturnType<typeof baseline>} Baseline */
/** @typedef {ReturnType<typeof report>} Report */
/** @typedef {Report["views"][number]} ReportView */
/** @typedef {ReturnType<typeof alert>} Alert */
/** @typedef {ReturnType<typeof comparison>} Comparison */
/** @typedef {ReturnType<typeof figure>} Figure */
/** @typedef {ReturnType<typeof progress>} Progress */
