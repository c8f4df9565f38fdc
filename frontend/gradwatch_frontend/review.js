/** What a person says of a finding: the buttons, the line that repeats it, and the dialog that asks for a note. */

import { ApiError, reopenFinding, reviewFinding } from "./api.js";
import { h, prose } from "./dom.js";
import { formatAgo, formatMoment } from "./format.js";
import { report } from "./notice.js";

/** @typedef {import("./schema.js").Finding} Finding */
/** @typedef {import("./schema.js").Review} Review */

/** @type {Record<Review["state"], {title: string, words: string, placeholder: string, act: string}>} */
const WORDS = {
  acknowledged: {
    title: "Acknowledge this finding?",
    words: "It is true and known. It still counts in the run's health, calmer, and alerts nobody any more.",
    placeholder: "e.g. known, a cured run is on its way",
    act: "Acknowledge",
  },
  dismissed: {
    title: "Dismiss this finding?",
    words: "It is none, or it is meant. It is folded away and no longer counts in the run's health.",
    placeholder: "e.g. this layer is meant to be frozen",
    act: "Dismiss",
  },
};

/** @param {Finding} finding */
export const isDismissed = ({ review }) => review?.state === "dismissed";

/**
 * The buttons of a finding that nobody has said anything of; null where something was said.
 * @param {Finding} finding
 * @param {(state: Review["state"]) => void} ask
 * @returns {HTMLElement | null}
 */
export function buildReviewButtons({ review, id }, ask) {
  if (review !== null) return null;
  const button = (/** @type {Review["state"]} */ state) =>
    h("button", { type: "button", class: "button small", onclick: () => ask(state) }, `${WORDS[state].act}…`);
  return h("span", { class: "buttons", "data-key": `review-${id}` }, button("acknowledged"), button("dismissed"));
}

/**
 * What was said of a finding, in a line; null for nothing.
 * @param {Finding} finding
 * @param {(() => void) | null} undo
 * @returns {HTMLElement | null}
 */
export function buildReviewLine({ review, id }, undo) {
  if (review === null) return null;
  const { state, note, at } = review;
  return h("p", { class: "review-line", "data-key": `reviewed-${id}` },
    h("b", {}, state === "dismissed" ? "Dismissed" : "Acknowledged"),
    h("time", { class: "muted", datetime: at, title: formatMoment(at) }, formatAgo(at, Date.now())),
    note !== "" && h("span", {}, "“", prose(note), "”"),
    undo !== null && h("button", { type: "button", class: "button small quiet", onclick: undo }, "Undo"));
}

/**
 * Asks for a note, and says it.
 * @param {string} runId
 * @param {Finding} finding
 * @param {Review["state"]} state
 * @param {(finding: Finding) => void} onDone
 */
export function askReview(runId, finding, state, onDone) {
  const { title, words, placeholder, act } = WORDS[state];
  const note = h("input", { "aria-label": "Note", maxlength: "2000", placeholder });
  const failure = h("p", { class: "bad-words", role: "alert" });
  const submit = h("button", { class: "button primary", type: "submit" }, act);
  const form = h("form", {
    onsubmit: async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      submit.disabled = true;
      try {
        onDone(await reviewFinding(runId, finding.id, state, note.value.trim()));
        dialog.close();
      } catch (error) {
        failure.textContent = error instanceof ApiError ? `${error.message} ${error.advice}`.trim() : String(error);
        submit.disabled = false;
      }
    },
  },
    h("h2", {}, title),
    h("p", { class: "quoted" }, prose(finding.title)),
    h("p", { class: "muted" }, words),
    h("label", { class: "field" }, h("span", { class: "muted small-text" }, "Why, for others (may be left out)"), note),
    failure,
    h("div", { class: "buttons" }, h("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Leave it"), submit));
  const dialog = h("dialog", { class: "card", "aria-label": title }, form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  note.focus();
}

/**
 * Takes back what was said.
 * @param {string} runId
 * @param {Finding} finding
 * @param {(finding: Finding) => void} onDone
 */
export async function undoReview(runId, finding, onDone) {
  try {
    await reopenFinding(runId, finding.id);
    onDone({ ...finding, review: null });
  } catch (error) {
    report(error);
  }
}
