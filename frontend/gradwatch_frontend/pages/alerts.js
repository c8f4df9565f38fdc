/** The rules of alerts: who is told of what, how it went, a button to try each, and a form to add one. */

import { addAlert, ApiError, fetchAlerts, removeAlert, testAlert } from "../api.js";
import { fill, h } from "../dom.js";
import { formatAgo, formatDuration, formatMoment, formatPlural } from "../format.js";
import { bindKeys } from "../keys.js";
import { report } from "../notice.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../schema.js").Alert} Alert */

const REFRESH_MS = 4000;
/** @type {Record<string, string>} */
const CHANNELS = { webhook: "Webhook, JSON", slack: "Slack", discord: "Discord", email: "E-mail" };
/** @type {Record<string, string>} */
const STATES = { sent: "Sent", failed: "Given up", waiting: "Not taken yet" };
/** @type {Record<string, string>} */
const ADDRESSES = {
  webhook: "https://example.com/hook",
  slack: "https://hooks.slack.com/services/…",
  discord: "https://discord.com/api/webhooks/…",
  email: "ops@example.com, night@example.com",
};

/**
 * @param {Context} context
 * @param {URLSearchParams} query `project` fills the form
 * @returns {import("../main.js").Page}
 */
export function openAlerts(context, query) {
  document.title = "Alerts · gradwatch";
  const page = new AlertsPage(context, query.get("project") ?? "");
  void page.refresh();
  return page;
}

class AlertsPage {
  /** @type {Alert[] | null} */
  #alerts = null;
  #hasMail = false;
  /** What the last trial of a rule said. @type {Map<string, {text: string, isBad: boolean}>} */
  #trials = new Map();
  #controller = new AbortController();

  /**
   * @param {Context} context
   * @param {string} project
   */
  constructor({ root, live }, project) {
    live.subscribe([]);
    bindKeys([]);
    this.list = h("section", { "aria-label": "Rules" });
    this.channel = h("select", { "aria-label": "Channel", onchange: () => this.#drawForm() }, Object.entries(CHANNELS).map(([value, words]) => h("option", { value }, words)));
    this.address = h("input", { "aria-label": "Address", required: true, autocomplete: "off", spellcheck: "false" });
    this.name = h("input", { "aria-label": "Name", maxlength: "200", placeholder: "e.g. on call" });
    this.project = h("input", { "aria-label": "Project", maxlength: "1000", placeholder: "all projects", value: project });
    this.severity = h("select", { "aria-label": "Tells" }, h("option", { value: "critical" }, "critical findings"), h("option", { value: "warning" }, "warnings too"));
    this.words = h("span", { class: "muted small-text" });
    this.failure = h("p", { class: "bad-words", role: "alert" });
    this.submit = h("button", { class: "button primary" }, "Add");
    const field = (/** @type {string} */ words, /** @type {HTMLElement} */ input, /** @type {HTMLElement | null} */ more = null) => h("label", { class: "field" }, h("span", { class: "muted small-text" }, words), input, more);
    root.append(h("h1", { class: "off-screen" }, "Alerts"), h("div", { class: "alerts-page" }, this.list,
      h("section", { class: "card", "aria-label": "Add a rule" },
        h("h2", {}, "Tell somebody"),
        h("form", { class: "alert-form", onsubmit: (/** @type {SubmitEvent} */ event) => void this.#add(event) },
          field("Channel", this.channel), field("Address", this.address, this.words), field("Tells of", this.severity), field("Project", this.project), field("Name", this.name), this.failure, this.submit))));
    this.#drawForm();
    this.timer = setInterval(() => document.hidden || void this.refresh(), REFRESH_MS);
  }

  #drawForm() {
    const channel = this.channel.value;
    this.address.placeholder = ADDRESSES[channel] ?? "";
    const lacksMail = channel === "email" && !this.#hasMail && this.#alerts !== null;
    this.words.textContent = lacksMail ? "This server has no mail server: start it with GRADWATCH_SMTP_URL." : channel === "email" ? "" : "Kept on the server, and not shown again.";
    this.submit.disabled = lacksMail;
  }

  /** Fetches the rules again. */
  async refresh() {
    this.#controller.abort();
    this.#controller = new AbortController();
    try {
      const { alerts, has_mail } = await fetchAlerts(this.#controller.signal);
      this.#alerts = alerts;
      this.#hasMail = has_mail;
      this.#draw();
      this.#drawForm();
    } catch (error) {
      report(error);
    }
  }

  #draw() {
    const alerts = this.#alerts;
    if (alerts === null) return;
    if (alerts.length === 0) {
      fill(this.list, h("div", { class: "card nobody", "data-key": "none" }, h("h2", {}, "Nobody is told yet"),
        h("p", {}, "Add a rule, and a critical finding reaches people where they are: in a chat, by e-mail, or in a program of yours."),
        h("p", { class: "muted" }, "Each finding is told once, and once more if a warning becomes critical. What somebody acknowledges or dismisses is not told any more.")));
      return;
    }
    fill(this.list, h("div", { class: "card flush", "data-key": "list" }, h("table", { class: "alerts" },
      h("thead", {}, h("tr", {}, ["Who", "Of what", "Last message", ""].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, alerts.map((alert) => this.#buildRow(alert))))));
  }

  /** @param {Alert} alert */
  #buildRow({ id, name, channel, target, project, severity, kinds, debounce_s, n_waiting, last }) {
    const trial = this.#trials.get(id);
    const what = kinds.length > 0 ? kinds.map((kind) => kind.replaceAll("_", " ")).join(", ") : severity === "critical" ? "critical findings" : "warnings and critical findings";
    return h("tr", { "data-key": id, "data-alert": id },
      h("td", {}, h("b", {}, name), h("div", { class: "muted small-text target" }, `${CHANNELS[channel]} · ${target}`)),
      h("td", {}, what, h("div", { class: "muted small-text" }, `${project === null ? "all projects" : `project ${project}`} · ${debounce_s === 0 ? "at once" : `gathered for ${formatDuration(debounce_s)}`}`)),
      h("td", { class: "last" },
        last === null ? h("span", { class: "muted" }, "none yet") : [h("span", { class: last.state }, STATES[last.state] ?? last.state), " ", h("time", { class: "muted", datetime: last.at, title: formatMoment(last.at) }, formatAgo(last.at, Date.now()))],
        last !== null && last.error !== null && h("div", { class: "small-text" }, last.error),
        n_waiting > 0 && h("div", { class: "muted small-text" }, `${formatPlural(n_waiting, "finding")} to be told`),
        trial !== undefined && h("div", { class: trial.isBad ? "small-text failed" : "small-text sent", role: "status" }, trial.text)),
      h("td", {}, h("div", { class: "buttons" },
        h("button", { type: "button", class: "button small", "aria-label": `Test ${name}`, onclick: () => void this.#test(id) }, "Test"),
        h("button", { type: "button", class: "button small quiet", "aria-label": `Remove ${name}`, onclick: () => this.#confirmRemove(id, name) }, "✕"))));
  }

  /** @param {SubmitEvent} event */
  async #add(event) {
    event.preventDefault();
    const channel = this.channel.value;
    const address = this.address.value.trim();
    const where = channel === "email" ? { to: address.split(/[\s,;]+/).filter((one) => one !== "") } : { url: address };
    this.failure.textContent = "";
    this.submit.disabled = true;
    try {
      await addAlert({ channel, ...where, name: this.name.value.trim(), project: this.project.value.trim() || null, severity: this.severity.value });
      this.address.value = "";
      this.name.value = "";
      await this.refresh();
    } catch (error) {
      this.failure.textContent = error instanceof ApiError ? error.message : String(error);
    } finally {
      this.submit.disabled = false;
    }
  }

  /** @param {string} id */
  async #test(id) {
    this.#trials.set(id, { text: "Sending an example…", isBad: false });
    this.#draw();
    try {
      const { took_s } = await testAlert(id);
      this.#trials.set(id, { text: `Test: the example was taken within ${formatDuration(Math.max(took_s, 0.1))}.`, isBad: false });
    } catch (error) {
      this.#trials.set(id, { text: `Test: ${error instanceof ApiError ? error.message : String(error)}`, isBad: true });
    }
    this.#draw();
  }

  /**
   * @param {string} id
   * @param {string} name
   */
  #confirmRemove(id, name) {
    const dialog = h("dialog", { class: "card", "aria-label": `Remove ${name}` },
      h("h2", {}, `Remove “${name}”?`),
      h("p", {}, "Nobody is told by it any more, not even of what is due."),
      h("form", { method: "dialog", class: "buttons" },
        h("button", { class: "button", value: "keep", autofocus: true }, "Keep it"),
        h("button", { class: "button danger", value: "remove" }, "Remove")));
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue === "remove") void removeAlert(id).then(() => this.refresh(), report);
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  close() {
    clearInterval(this.timer);
    this.#controller.abort();
  }
}
