/** The findings of a run, the leading one first; a click brings one into the verdict. */

import { fill, h, prose } from "../../dom.js";
import { formatPlural, formatStep } from "../../format.js";
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
    this.element = h("section", { class: "card", "aria-label": "Findings" }, h("h2", {}, "Findings"), this.list);
  }

  /**
   * @param {Finding[]} findings
   * @param {string | null} told the one in the verdict
   * @param {boolean} hasWorkers whether there is more than one
   */
  draw(findings, told, hasWorkers) {
    this.#findings = new Map(findings.map((finding) => [finding.id, finding]));
    this.element.hidden = findings.length < 2; // a single one is the verdict already
    fill(this.list, findings.map((finding) => this.#buildItem(finding, finding.id === told, hasWorkers)));
  }

  /**
   * @param {Finding} finding
   * @param {boolean} isTold
   * @param {boolean} hasWorkers
   */
  #buildItem(finding, isTold, hasWorkers) {
    const { flood } = evidence(finding.evidence);
    const n = flood.reduce((sum, { n_tensors }) => sum + n_tensors, 0);
    const words = [`step ${formatStep(finding.first_step)}`, hasWorkers && finding.worker !== null && `worker ${finding.worker}`, finding.tensor ?? finding.layer, n > 1 && `floods ${formatPlural(n, "tensor")}`];
    const pick = () => {
      const found = this.#findings.get(finding.id);
      if (found !== undefined) this.#onPick(found);
    };
    return h("li", { "data-key": finding.id },
      h("button", { type: "button", class: "finding", "aria-pressed": String(isTold), onclick: pick },
        h("span", { class: `dot ${findTone(finding)}`, title: finding.severity }),
        h("span", {}, h("span", { class: "finding-title" }, prose(finding.title)), h("span", { class: "muted small-text" }, words.filter(Boolean).join(" · "))),
      ),
    );
  }
}
