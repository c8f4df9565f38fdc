/** Asks for the server's token, and goes on to the page that was wanted. */

import { ApiError, signIn } from "../api.js";
import { h } from "../dom.js";

/**
 * @param {import("../main.js").Context} context
 * @param {URLSearchParams} query
 * @returns {import("../main.js").Page}
 */
export function openLogin({ root }, query) {
  document.title = "Sign in · gradwatch";
  const token = h("input", { type: "password", name: "token", autocomplete: "current-password", required: true, autofocus: true, "aria-label": "Token" });
  const words = h("p", { class: "bad-words", role: "alert" });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await signIn(token.value);
      // Loaded anew, so that the live line opens with the cookie.
      location.assign(safePath(query.get("next")));
    } catch (error) {
      words.textContent = error instanceof ApiError ? error.message : String(error);
      token.select();
    }
  };
  root.append(
    h("section", { class: "card empty" },
      h("h1", {}, "Sign in"),
      h("p", {}, "This server asks for a token: the ", h("code", {}, "GRADWATCH_TOKEN"), " that it was started with."),
      h("form", { class: "one-line login", onsubmit: submit }, token, h("button", { class: "button primary" }, "Sign in")),
      words));
  token.focus();
  return { close: () => {} };
}

/**
 * Takes only a path of this server: an address in a link must not lead elsewhere after signing in.
 * @param {string | null} next
 * @returns {string}
 */
export function safePath(next) {
  return next !== null && /^\/(?![/\\])/.test(next) ? next : "/";
}
