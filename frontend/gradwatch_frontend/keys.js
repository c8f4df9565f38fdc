/** Keys of a page: which key does what, and the help that lists them. One set is in force at a time. */

import { h } from "./dom.js";

/** @typedef {{keys: string[], words: string, run: (event: KeyboardEvent) => void}} Binding */

/** @type {Binding[]} */
let bindings = [];

/**
 * Puts a page's keys in force.
 * @param {Binding[]} next
 */
export function bindKeys(next) {
  bindings = next;
}

/** Starts listening. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null) return;
    const target = event.target;
    if (target instanceof HTMLInputElement && target.type !== "checkbox") return;
    if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return;
    if (event.key === "?") return showHelp();
    const binding = bindings.find(({ keys }) => keys.includes(event.key));
    if (binding === undefined) return;
    // Arrows scroll a page and move in groups of buttons; they are taken only where a chart has the focus.
    const isArrow = event.key.startsWith("Arrow");
    if (isArrow && !(target instanceof Element && target.closest("[data-arrows]"))) return;
    event.preventDefault();
    binding.run(event);
  });
}

/** Opens the list of keys. */
export function showHelp() {
  const rows = [...bindings, { keys: ["?"], words: "this help" }].map(({ keys, words }) =>
    h("tr", {}, h("td", {}, keys.map((key) => h("kbd", {}, nameKey(key)))), h("td", {}, words)),
  );
  const dialog = h(
    "dialog",
    { class: "card help", "aria-label": "Keys" },
    h("h2", {}, "Keys"),
    h("table", {}, h("tbody", {}, rows)),
    h("form", { method: "dialog" }, h("button", { class: "button" }, "Close")),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * @param {string} key
 * @returns {string}
 */
function nameKey(key) {
  const names = /** @type {Record<string, string>} */ ({ ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "space" });
  return names[key] ?? key;
}
