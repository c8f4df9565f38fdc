/** The findings of a run, the leading one first, dismissed ones folded away; a click brings one into the verdict. */

import { fill, h, prose } from "../../dom.js";
import { formatPlural, formatStep } from "../../format.js";
import { isDismissed } from "../../review.js";
import { evidence } from "../../schema.js";
import { findTone } from "../../verdict.js";

/** @typedef {import("../../schema.js").Finding} Finding */

export class FindingsCard {
  #onPick;
  /** @type {Map<string, Finding>} */
  #findings = new Map();

  /** @param {(finding: Finding) => void} onPick */
  constructor(onPick) {
    this.#onPick = onPick;
    this.list = h("ol", { class: "findings" });
    this.rest = h("div", {});
    this.element = h("section", { class: "card", "aria-label": "Findings" }, h("h2", {}, "Findings"), this.list, this.rest);
  }

  /**
   * @param {Finding[]} findings
   * @param {string | null} told the one in the verdict
   * @param {boolean} hasWorkers whether there is more than one
   */
  draw(findings, told, hasWorkers) {
    this.#findings = new Map(findings.map((finding) => [finding.id, finding]));
    const dismissed = findings.filter(isDismissed);
    this.element.hidden = findings.length < 2 && dismissed.length === 0; // a single one is the verdict already
    const build = (/** @type {Finding} */ finding) => this.#buildItem(finding, finding.id === told, hasWorkers);
    this.list.hidden = dismissed.length === findings.length;
    fill(this.list, findings.filter((finding) => !isDismissed(finding)).map(build));
    fill(this.rest, dismissed.length > 0 && h("details", { "data-key": "dismissed" },
      h("summary", {}, `${dismissed.length} dismissed`), h("ol", { class: "findings" }, dismissed.map(build))));
  }

  /**
   * @param {Finding} finding
   * @param {boolean} isTold
   * @param {boolean} hasWorkers
   */
  #buildItem(finding, isTold, hasWorkers) {
    const { flood } = evidence(finding.evidence);
    const n = flood.reduce((sum, { n_tensors }) => sum + n_tensors, 0);
    const words = [`step ${formatStep(finding.first_step)}`, hasWorkers && finding.worker !== null && `worker ${finding.worker}`, finding.tensor ?? finding.layer, finding.review?.state === "acknowledged" && "acknowledged", n > 1 && `floods ${formatPlural(n, "tensor")}`];
    const pick = () => {
      const found = this.#findings.get(finding.id);
      if (found !== undefined) this.#onPick(found);
    };
    return h("li", { "data-key": finding.id },
      h("button", { type: "button", class: finding.review === null ? "finding" : "finding reviewed", "aria-pressed": String(isTold), onclick: pick },
        h("span", { class: `dot ${findTone(finding)}`, title: finding.severity }),
        h("span", {}, h("span", { class: "finding-title" }, prose(finding.title)), h("span", { class: "muted small-text" }, words.filter(Boolean).join(" · "))),
      ),
    );
  }
}
