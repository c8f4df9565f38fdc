/** Requests to the server's REST interface, validated. Each function is one row of the contract's table. */

import * as schema from "./schema.js";
import { ValidationError } from "./validate.js";

/** @typedef {import("./schema.js").RunSummary} RunSummary */

/** What the server, or the way to it, refused; `message` says what was found, `advice` what to do. */
export class ApiError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {number} status 0 when no answer came
   */
  constructor(code, message, status) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.advice = advise(code, status);
  }
}

/**
 * @param {string} code
 * @param {number} status
 * @returns {string}
 */
function advise(code, status) {
  if (status === 0) return "Is `gradwatch serve` still running? This page tries again by itself.";
  if (code === "unexpected_answer") return "The page and the server may be of different versions: reload the page.";
  if (status === 401 || status === 403) return "Sign in with the token that the server was started with (GRADWATCH_TOKEN).";
  if (code === "not_connected") return "It may have ended, or lost the way to this server; then it comes back by itself. Try again when it shows new steps.";
  if (["delivery_failed", "no_mail_server", "unknown_alert", "unknown_finding"].includes(code)) return ""; // the message says it all
  if (status === 404) return "It may have been deleted, or the address may be mistyped. The list of runs has what there is.";
  if (status >= 500) return "The server's own output says more. Reload the page to try again.";
  return "";
}

/**
 * Sends a request and validates the answer.
 * @template T
 * @param {string} path
 * @param {import("./validate.js").Validator<T>} validator
 * @param {{method?: string, body?: unknown, signal?: AbortSignal | undefined}} [options]
 * @returns {Promise<T>}
 * @throws {ApiError}
 */
export async function request(path, validator, { method = "GET", body, signal } = {}) {
  /** @type {RequestInit} */
  const init = { method, signal: signal ?? null, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { Accept: "application/json", "Content-Type": "application/json" };
  }
  const response = await send(path, init);
  if (response.status === 204) return validator(null);
  const answer = await response.json().catch(giveUpOrNothing);
  if (!response.ok) throw readError(answer, response.status);
  try {
    return validator(answer, path.split("?")[0] ?? path);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ApiError("unexpected_answer", `The server's answer is not what this page expects. ${error.message}`, response.status);
  }
}

/**
 * An answer without JSON is worded later; one that was given up stays given up.
 * @param {unknown} error
 * @returns {undefined}
 */
function giveUpOrNothing(error) {
  if (error instanceof DOMException && error.name === "AbortError") throw error;
}

/**
 * @param {string} path
 * @param {RequestInit} init
 * @returns {Promise<Response>}
 */
async function send(path, init) {
  try {
    return await transport(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("no_answer", "The server does not answer.", 0);
  }
}

/**
 * @param {unknown} answer
 * @param {number} status
 * @returns {ApiError}
 */
function readError(answer, status) {
  try {
    const { code, message } = schema.apiError(answer);
    return new ApiError(code, message, status);
  } catch {
    return new ApiError("unexpected_answer", `The server answered with status ${status} and no words.`, status);
  }
}

/**
 * How requests travel: over the network, unless the page is a file that holds the answers.
 * @type {(path: string, init: RequestInit) => Promise<Response>}
 */
let transport = (path, init) => fetch(path, init);

/**
 * Takes all answers from elsewhere from now on.
 * @param {typeof transport} other
 */
export function takeAnswersFrom(other) {
  transport = other;
}

/**
 * Builds a query string; what is empty is left out.
 * @param {Record<string, string | number | null | undefined | string[]>} values
 * @returns {string} with its question mark, or ""
 */
export function buildQuery(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) for (const item of value) query.append(name, item);
    else if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

const path = (/** @type {string} */ id) => `/api/runs/${encodeURIComponent(id)}`;
const nothing = () => null;

/**
 * @typedef {{project?: string, state?: string, search?: string, limit?: number, offset?: number}} RunFilter
 * @typedef {{from?: number | null, to?: number | null, worker?: number | null}} StepRange
 * @typedef {StepRange & {replica?: number | null}} PartRange of one process, or of one device's copy of the model
 * @typedef {{every?: number, kinds?: string[], everything_for?: number, stop?: string}} Control
 */

/** @param {RunFilter} filter @param {AbortSignal} [signal] */
export const fetchRuns = (filter, signal) => request(`/api/runs${buildQuery(filter)}`, schema.runList, { signal });

/** @param {AbortSignal} [signal] */
export const fetchRecord = (signal) => request("/api/forecasts?limit=0", schema.forecastRecord, { signal });

/** @param {string} id @param {AbortSignal} [signal] */
export const fetchRun = (id, signal) => request(path(id), schema.runDetail, { signal });

/** @param {string} id @param {{name?: string, tags?: string[], project?: string}} changes */
export const changeRun = (id, changes) => request(path(id), schema.runDetail, { method: "PATCH", body: changes });

/** @param {string} id */
export const deleteRun = (id) => request(path(id), nothing, { method: "DELETE" });

/** @param {string} id @param {AbortSignal} [signal] */
export const fetchTensors = (id, signal) => request(`${path(id)}/tensors`, schema.tensorTable, { signal });

/** @param {string} id @param {{tensor: string, kind: string, statistic?: string | null, points?: number} & PartRange} query @param {AbortSignal} [signal] */
export const fetchSeries = (id, query, signal) => request(`${path(id)}/series${buildQuery(query)}`, schema.series, { signal });

/** @param {string} id @param {{kind: string, statistic: string, columns?: number} & PartRange} query @param {AbortSignal} [signal] */
export const fetchHeatmap = (id, query, signal) => request(`${path(id)}/heatmap${buildQuery(query)}`, schema.heatmap, { signal });

/** @param {string} id @param {{columns?: number} & StepRange} query @param {AbortSignal} [signal] */
export const fetchNonfinite = (id, query, signal) => request(`${path(id)}/nonfinite${buildQuery(query)}`, schema.nonfinite, { signal });

/** @param {string} id @param {AbortSignal} [signal] */
export const fetchFindings = (id, signal) => request(`${path(id)}/findings`, schema.findings, { signal });

/** @param {string} id @param {AbortSignal} [signal] */
export const fetchNext = (id, signal) => request(`${path(id)}/next`, schema.sequel, { signal });

/** @param {string} id @param {AbortSignal} [signal] */
export const fetchBaseline = (id, signal) => request(`${path(id)}/baseline`, schema.baseline, { signal });

/** @param {string} id */
export const reportPath = (id) => `${path(id)}/report`;

/** @param {string} id @param {{tensor: string} & StepRange} query @param {AbortSignal} [signal] */
export const fetchColumns = (id, query, signal) => request(`${path(id)}/columns${buildQuery(query)}`, schema.inputColumns, { signal });

/** @param {string} id @param {AbortSignal} [signal] */
export const fetchCapture = (id, signal) => request(`${path(id)}/capture`, schema.captureHistory, { signal });

/** @param {string} id @param {Control} control */
export const sendControl = (id, control) => request(`${path(id)}/controls`, schema.controlAccepted, { method: "POST", body: control });

/** @param {string} id @param {string} finding */
const reviewPath = (id, finding) => `${path(id)}/findings/${encodeURIComponent(finding)}/review`;

/** @param {string} id @param {string} finding @param {"acknowledged" | "dismissed"} state @param {string} note */
export const reviewFinding = (id, finding, state, note) => request(reviewPath(id, finding), schema.finding, { method: "PUT", body: { state, note } });

/** @param {string} id @param {string} finding */
export const reopenFinding = (id, finding) => request(reviewPath(id, finding), nothing, { method: "DELETE" });

/** @param {AbortSignal} [signal] */
export const fetchAlerts = (signal) => request("/api/alerts", schema.alertList, { signal });

/** @typedef {{channel: string, url?: string, to?: string[], name?: string, project?: string | null, severity?: string, kinds?: string[], debounce_s?: number}} AlertWish */
/** @param {AlertWish} wish */
export const addAlert = (wish) => request("/api/alerts", schema.alert, { method: "POST", body: wish });

/** @param {string} id */
export const removeAlert = (id) => request(`/api/alerts/${encodeURIComponent(id)}`, nothing, { method: "DELETE" });

/** @param {string} id */
export const testAlert = (id) => request(`/api/alerts/${encodeURIComponent(id)}/test`, schema.alertTested, { method: "POST" });

/** @param {string[]} ids @param {AbortSignal} [signal] */
export const fetchComparison = (ids, signal) => request(`/api/compare${buildQuery({ run: ids })}`, schema.comparison, { signal });

/** @param {string} token */
export const signIn = (token) => request("/login", nothing, { method: "POST", body: { token } });

/** @param {string} name @param {"light" | "dark"} theme */
export const fetchFigure = (name, theme) => request(`/api/figures/${name}?theme=${theme}`, schema.figure);
