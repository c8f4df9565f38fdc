/** What a person can ask a running training for: everything for some steps, another cadence, other kinds, an end. */

import { ApiError, sendControl } from "../../api.js";
import { fill, h } from "../../dom.js";
import { formatPlural } from "../../format.js";
import { Menu } from "../../menu.js";

/** @typedef {import("../../api.js").Control} Control */
/** @typedef {import("../../schema.js").RunDetail} RunDetail */

const FIRST_BURST = 50;
/** Steps between full statistics; 0 leaves it to the hook's budget. @type {[number, string][]} */
const CADENCES = [
  [0, "as the budget allows"],
  [1, "at every step"],
  [10, "every 10 steps"],
  [100, "every 100 steps"],
  [1000, "every 1,000 steps"],
];
/** What full statistics can be taken of. Findings need the gradients, so these stay. */
const KINDS = ["gradient", "weight", "update", "activation", "backprop", "input", "slot"];

export class ControlsMenu {
  /** Called when a control was accepted. */
  onSent = () => {};
  #id;
  #menu = new Menu("Controls");
  #isSending = false;

  /** @param {string} id of the run */
  constructor(id) {
    this.#id = id;
    this.element = this.#menu.element;
    this.element.hidden = true;
    fill(this.#menu.button, "Controls", h("span", { class: "caret", "aria-hidden": "true" }, "▾"));
    this.burst = h("input", { type: "number", min: "1", max: "100000", step: "1", value: String(FIRST_BURST), "aria-label": "Steps", class: "steps-input" });
    this.cadence = h("select", { class: "small", "aria-label": "Cadence" }, CADENCES.map(([every, words]) => h("option", { value: String(every) }, words)));
    this.kinds = h("div", { class: "kind-boxes" });
    this.answer = h("p", { class: "answer", role: "status" });
    this.#menu.panel.append(this.#build());
  }

  /**
   * @param {RunDetail} run
   * @param {Set<string>} kinds that the run's graph has; only these can be chosen
   */
  draw(run, kinds) {
    this.element.hidden = run.state !== "live";
    if (this.element.hidden) this.#menu.close();
    this.name = run.name;
    const wanted = KINDS.filter((kind) => kinds.has(kind));
    const shown = [...this.kinds.querySelectorAll("input")].map(({ value }) => value);
    if (wanted.join() === shown.join()) return;
    this.kinds.replaceChildren(...wanted.map((kind) =>
      h("label", { class: "inline" }, h("input", { type: "checkbox", value: kind, checked: true, disabled: kind === "gradient" }), kind)));
  }

  #build() {
    const button = (/** @type {string} */ words, /** @type {() => void} */ run, className = "button small") => h("button", { type: "button", class: className, onclick: run }, words);
    return h("div", { class: "stack" },
      h("section", { "aria-label": "Look closely" },
        h("h2", {}, "Look closely"),
        h("div", { class: "control-line" }, "Everything, for the next", this.burst, "steps", button("Ask", () => void this.#askBurst()))),
      h("section", { "aria-label": "How often, and of what" },
        h("h2", {}, "Full statistics"),
        h("div", { class: "control-line" }, this.cadence, button("Set the cadence", () => void this.#send({ every: Number(this.cadence.value) }))),
        this.kinds,
        h("div", { class: "control-line" }, button("Set the kinds", () => void this.#send({ kinds: this.#chosen() })))),
      this.answer,
      h("section", { class: "control-end", "aria-label": "End" }, button("Stop training…", () => this.#confirmStop(), "button small danger")));
  }

  #chosen() {
    return [...this.kinds.querySelectorAll("input")].filter(({ checked }) => checked).map(({ value }) => value);
  }

  #askBurst() {
    const steps = Number(this.burst.value);
    if (!Number.isInteger(steps) || steps < 1) return this.#say("Give a whole number of steps, 1 or more.", true);
    return this.#send({ everything_for: steps });
  }

  /**
   * @param {Control} control
   * @returns {Promise<boolean>} whether it was accepted
   */
  async #send(control) {
    if (this.#isSending) return false;
    this.#isSending = true;
    this.#say("Asking…");
    try {
      const { not_captured } = await sendControl(this.#id, control);
      this.#say(describeAccepted(control, not_captured));
      this.onSent();
      return true;
    } catch (error) {
      this.#say(describeRefusal(error), true);
      return false;
    } finally {
      this.#isSending = false;
    }
  }

  /**
   * @param {string} text
   * @param {boolean} [isBad]
   */
  #say(text, isBad = false) {
    this.answer.textContent = text;
    this.answer.classList.toggle("bad-words", isBad);
  }

  #confirmStop() {
    const reason = h("input", { "aria-label": "Reason", maxlength: "500", placeholder: "e.g. loss is NaN since step 812", required: true });
    const failure = h("p", { class: "bad-words", role: "alert" });
    const stop = h("button", { class: "button danger", type: "submit" }, "Stop training");
    const form = h("form", {
      onsubmit: async (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        stop.disabled = true;
        const isTaken = await this.#send({ stop: reason.value.trim() });
        stop.disabled = false;
        if (isTaken) dialog.close();
        else failure.textContent = this.answer.textContent;
      },
    },
      h("h2", {}, `Stop “${this.name ?? ""}”?`),
      h("p", {}, "The training ends after the step that it is in. What was captured stays; the training cannot be taken up again from here."),
      h("label", { class: "field" }, h("span", { class: "muted small-text" }, "Reason, kept with the run"), reason),
      failure,
      h("div", { class: "buttons" }, h("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Let it train"), stop));
    const dialog = h("dialog", { class: "card", "aria-label": "Stop training" }, form);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    reason.focus();
  }

  close() {
    this.#menu.close();
  }
}

/**
 * @param {Control} control
 * @param {string[]} [notCaptured] kinds asked for that the run's graph does not have
 * @returns {string}
 */
export function describeAccepted({ everything_for, every, kinds, stop }, notCaptured = []) {
  if (stop !== undefined) return "Asked to stop. It ends after the step that it is in.";
  if (everything_for !== undefined) return `Asked for everything in the next ${formatPlural(everything_for, "step")}. The training answers at its next step.`;
  if (every !== undefined) return every === 0 ? "Asked to follow the budget again. The training answers at its next step." : `Asked for full statistics every ${formatPlural(every, "step")}. The training answers at its next step.`;
  const taken = (kinds ?? []).filter((kind) => !notCaptured.includes(kind));
  const rest = notCaptured.length > 0 ? ` This run does not capture ${notCaptured.join(", ")}.` : "";
  return `Asked for full statistics of ${taken.join(", ")} alone. The training answers at its next step.${rest}`;
}

/**
 * @param {unknown} error
 * @returns {string}
 */
export function describeRefusal(error) {
  if (error instanceof ApiError && error.code === "not_connected") return `The training is not connected to this server just now, so it cannot be asked. ${error.advice}`;
  if (error instanceof ApiError) return `${error.message} ${error.advice}`.trim();
  return error instanceof Error ? error.message : String(error);
}
