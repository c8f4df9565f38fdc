/** The page's beginning: theme, live line, router, header. Shows one page at a time and closes the last one. */

import { h } from "./dom.js";
import { bindKeys, showHelp, startKeys } from "./keys.js";
import { Live } from "./live.js";
import { dismiss, notify } from "./notice.js";
import { openAlerts } from "./pages/alerts.js";
import { openCompare } from "./pages/compare.js";
import { openLogin } from "./pages/login.js";
import { openRun } from "./pages/run.js";
import { openRuns } from "./pages/runs.js";
import { openUnknown } from "./pages/unknown.js";
import { Router } from "./router.js";
import { startTheme, toggleTheme } from "./theme.js";

/**
 * @typedef {object} Context what a page is given
 * @property {HTMLElement} root where it draws
 * @property {HTMLElement} place in the header: where the reader is, and how it goes there
 * @property {HTMLElement} actions in the header: what can be done
 * @property {Live} live
 * @property {Router} router
 */
/** @typedef {{close: () => void}} Page */

const live = new Live(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/live`);
const place = h("div", { class: "place" });
const actions = h("div", { class: "actions" });
const links = {
  runs: h("a", { href: "/" }, "Runs"),
  compare: h("a", { href: "/compare" }, "Compare"),
  alerts: h("a", { href: "/alerts" }, "Alerts"),
};
/** @type {Page | null} */
let page = null;

const router = new Router((route) => {
  page?.close();
  for (const sort of ["error", "numbers", "panel"]) dismiss(sort);
  const root = document.getElementById("page");
  if (root === null) return;
  root.replaceChildren();
  place.replaceChildren();
  actions.replaceChildren();
  bindKeys([]);
  for (const [name, link] of Object.entries(links)) {
    if (name === route.page) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  /** @type {Context} */
  const context = { root, place, actions, live, router };
  if (route.page === "runs") page = openRuns(context, route.query);
  else if (route.page === "run") page = openRun(context, route.id, route.query);
  else if (route.page === "compare") page = openCompare(context, route.query);
  else if (route.page === "alerts") page = openAlerts(context, route.query);
  else if (route.page === "login") page = openLogin(context, route.query);
  else page = openUnknown(context, route.path);
});

/** Builds the header, once. */
function buildTop() {
  document.getElementById("top")?.append(
    h("a", { href: "/", class: "wordmark" }, "gradwatch"),
    h("nav", { "aria-label": "Pages" }, links.runs, links.compare, links.alerts),
    place,
    actions,
    h(
      "div",
      { class: "tools" },
      h("button", { type: "button", class: "button icon", title: "Light or dark", "aria-label": "Light or dark", onclick: toggleTheme }, "◐"),
      h("button", { type: "button", class: "button icon", title: "Keys (?)", "aria-label": "Keys", onclick: showHelp }, "?"),
    ),
  );
}

/** Says when the live line is lost, counts down to the next try, and says when it is back. */
function watchLine() {
  /** @type {ReturnType<typeof setInterval> | null} */
  let countdown = null;
  let lostAt = "";
  live.watch((state) => {
    if (countdown !== null) clearInterval(countdown);
    countdown = null;
    document.documentElement.dataset.line = state;
    if (state === "open") return dismiss("line");
    if (state !== "lost") return;
    lostAt ||= new Date().toLocaleTimeString();
    const say = () => {
      const seconds = Math.max(0, Math.ceil((live.retryAt - Date.now()) / 1000));
      const when = seconds === 0 ? "now" : `in ${seconds} s`;
      notify("line", `Connection to the server lost. What you see is from ${lostAt}. `, {
        countdown: `Trying again ${when}.`,
        canClose: false,
        action: { label: "Try now", run: () => live.open() },
      });
    };
    say();
    countdown = setInterval(say, 1000);
  });
  live.watch((state) => {
    if (state === "open") lostAt = "";
  });
  live.listen((message) => {
    if (message.type === "error") notify("live", message.message);
  });
}

startTheme();
startKeys();
buildTop();
watchLine();
router.start();
