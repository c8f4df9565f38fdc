/** How often full statistics are taken, in words. Pure: the entries of a run's capture history in, texts out. */

import { formatPlural, formatShare, formatStep } from "./format.js";

/** @typedef {import("./schema.js").Cadence} Cadence */

/**
 * Finds the entry in force at the newest step.
 * @param {Cadence[]} history oldest first
 * @param {number | null} worker null is the first
 * @returns {Cadence | null}
 */
export function currentCadence(history, worker = null) {
  const own = history.filter((entry) => entry.worker === null || entry.worker === (worker ?? history[0]?.worker));
  return own[own.length - 1] ?? null;
}

/**
 * Says in a few words how often.
 * @param {Cadence} cadence
 * @param {number | null} lastStep the newest step; a burst of everything ends by itself
 * @returns {string}
 */
export function sayCadence({ period, every, until_step }, lastStep) {
  if (until_step !== null && (lastStep ?? 0) < until_step) return `everything until step ${formatStep(until_step)}`;
  const steps = Math.max(period, every);
  return steps <= 1 ? "full statistics at every step" : `full statistics every ${formatStep(steps)} steps`;
}

/**
 * Says of which kinds, where a person left some out.
 * @param {Cadence} cadence
 * @param {Cadence[]} history
 * @returns {string} "" for all
 */
export function sayKinds({ kinds }, history) {
  const all = new Set(history.flatMap((entry) => entry.kinds));
  return kinds.length === 0 || kinds.length === all.size ? "" : `of ${kinds.join(", ")} alone`;
}

/**
 * Says why.
 * @param {Cadence} cadence
 * @returns {string}
 */
export function sayReason({ reason, period, cost }) {
  if (reason === "control") return "as a person asked";
  if (reason !== "budget") return reason ?? "";
  if (cost === null) return period > 1 ? "to find out what it costs" : "until the cost is measured";
  return period > 1 ? "to stay within the hook's budget" : "the hook's budget allows it";
}

/**
 * Says what the hook costs and how often it looks: the pill at the top.
 * @param {number | null} cost
 * @param {Cadence | null} cadence
 * @param {number | null} lastStep
 * @returns {string}
 */
export function sayCost(cost, cadence, lastStep) {
  const price = cost === null ? null : `hook costs ${formatShare(cost)}`;
  if (cadence === null) return price ?? "";
  const { period, every, until_step } = cadence;
  const isBurst = until_step !== null && (lastStep ?? 0) < until_step;
  const steps = Math.max(period, every);
  const pace = isBurst ? `everything until ${formatStep(until_step)}` : steps > 1 ? `in full every ${formatPlural(steps, "step")}` : null;
  return [price, pace].filter((text) => text !== null).join(" · ") || "hook";
}
