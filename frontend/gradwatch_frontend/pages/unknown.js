/** What stands at an address where nothing is. */

import { h } from "../dom.js";

/**
 * @param {import("../main.js").Context} context
 * @param {string} path
 * @returns {import("../main.js").Page}
 */
export function openUnknown({ root }, path) {
  document.title = "Nothing here · gradwatch";
  root.append(buildUnknown("There is no page at this address", path));
  return { close: () => {} };
}

/**
 * Builds the card that says so.
 * @param {string} title
 * @param {string} address
 * @param {string} [words]
 * @returns {HTMLElement}
 */
export function buildUnknown(title, address, words = "The address may be mistyped.") {
  return h(
    "section",
    { class: "card empty" },
    h("h1", {}, title),
    h("p", { class: "mono muted" }, address),
    h("p", {}, words),
    h("p", {}, h("a", { href: "/", class: "button primary" }, "See all runs")),
  );
}
