/** Notices under the header: a lost connection, an error in words with what to do. One place, the newest of each sort. */

import { ApiError } from "./api.js";
import { fill, h } from "./dom.js";

/** @type {Map<string, HTMLElement>} */
const notices = new Map();

/** Shows what there is to show. */
function draw() {
  const place = document.getElementById("notice");
  if (place !== null) fill(place, [...notices.values()]);
}

/**
 * Shows or replaces a notice.
 * @param {string} sort
 * @param {string} text
 * @param {{countdown?: string, canClose?: boolean, action?: {label: string, run: () => void}}} [options] a countdown changes
 *   every second and is not read aloud
 */
export function notify(sort, text, { countdown = "", canClose = true, action } = {}) {
  const button = action && h("button", { type: "button", class: "button small", onclick: action.run }, action.label);
  const close = canClose && h("button", { type: "button", class: "button small quiet", "aria-label": "Dismiss", onclick: () => dismiss(sort) }, "✕");
  notices.set(sort, h("div", { class: "notice", "data-key": sort, "data-sort": sort }, h("span", {}, text, h("span", { "aria-hidden": "true" }, countdown)), button, close));
  draw();
}

/**
 * Takes a notice away.
 * @param {string} sort
 */
export function dismiss(sort) {
  if (notices.delete(sort)) draw();
}

/**
 * Puts any error into words. A request that was given up is no error.
 * @param {unknown} error
 * @param {string} [sort]
 */
export function report(error, sort = "error") {
  if (error instanceof DOMException && error.name === "AbortError") return;
  const text = error instanceof ApiError ? `${error.message} ${error.advice}` : `This page met an error of its own: ${error instanceof Error ? error.message : String(error)}. Reload the page.`;
  notify(sort, text.trim());
}
