/** The header of a run's page: its name and state, what the hook costs, what can be done and asked for. */

import { reportPath } from "../../api.js";
import { fill, h } from "../../dom.js";
import { formatCount, formatPlural, formatStep } from "../../format.js";
import { buildState } from "../runs.js";
import { ControlsMenu } from "./controls.js";
import { CostPill } from "./cost.js";

/** @typedef {import("../../schema.js").RunDetail} RunDetail */

export class RunTop {
  #actions;

  /**
   * @param {import("../../main.js").Context} context
   * @param {string} id of the run
   * @param {{togglePause: () => void, compare: () => void}} actions
   */
  constructor({ place, actions }, id, { togglePause, compare }) {
    this.#actions = { togglePause, compare };
    this.cost = new CostPill(id);
    this.controls = new ControlsMenu(id);
    this.controls.onSent = () => void this.cost.refresh(true);
    this.words = h("span", { class: "place-words" });
    this.warnings = h("span", { class: "place-words" });
    this.buttons = h("span", { class: "buttons" });
    place.append(this.words, this.cost.element, this.warnings);
    actions.append(this.controls.element, this.buttons);
  }

  /**
   * @param {RunDetail} run
   * @param {{stepsPerS: number | null, isPaused: boolean, kinds: Set<string>}} more
   */
  draw(run, { stepsPerS, isPaused, kinds }) {
    const isLive = run.state === "live";
    const speed = isLive && stepsPerS !== null ? ` · ${stepsPerS >= 10 ? Math.round(stepsPerS) : Number(stepsPerS.toFixed(1))} steps/s` : "";
    const step = run.last_step === null ? "" : ` · step ${formatStep(run.last_step)}`;
    fill(
      this.words,
      h("span", { class: "run-title", title: run.name }, run.name),
      h("span", { class: `pill ${run.state}`, "data-state": run.state }, buildState(run.state), h("span", { class: "number" }, `${step}${speed}`)),
      isPaused && isLive && h("span", { class: "pill paused" }, "paused"),
    );
    fill(
      this.warnings,
      run.n_rows_lost > 0 && h("span", { class: "pill bad", title: "Overwritten before they could be read" }, `${formatPlural(run.n_rows_lost, "row")} lost`),
      run.n_skipped > 0 && h("span", { class: "pill bad", title: "Their gradients were not finite, and on_nonfinite is \"skip\"" }, `${formatCount(run.n_skipped)} steps skipped`),
    );
    fill(
      this.buttons,
      isLive && h("button", { type: "button", class: "button", "data-key": "pause", "aria-pressed": String(isPaused), onclick: this.#actions.togglePause }, isPaused ? "Follow" : "Pause"),
      h("a", { class: "button", "data-key": "report", href: reportPath(run.id), download: "", title: "Verdict, charts, fixes and settings in one file that opens offline" }, "Report"),
      h("button", { type: "button", class: "button", "data-key": "compare", onclick: this.#actions.compare }, "Compare with last healthy run"),
    );
    this.cost.draw(run);
    this.controls.draw(run, kinds);
  }

  close() {
    this.cost.close();
    this.controls.close();
  }
}
