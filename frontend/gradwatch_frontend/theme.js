/** Light or dark: the reader's system decides until the toggle does, and the choice is kept in this browser. */

const KEY = "gradwatch-theme";
/** @type {Set<() => void>} */
const watchers = new Set();

/** @typedef {"light" | "dark"} Theme */

/** @returns {MediaQueryList} */
const askSystem = () => window.matchMedia("(prefers-color-scheme: dark)");

/** @returns {Theme | null} what the reader chose here, if anything */
function readChoice() {
  try {
    const choice = localStorage.getItem(KEY);
    return choice === "light" || choice === "dark" ? choice : null;
  } catch {
    return null; // storage may be forbidden; the system's theme does
  }
}

/** @returns {Theme} */
export function currentTheme() {
  return readChoice() ?? (askSystem().matches ? "dark" : "light");
}

/** Puts the theme on the document. */
function applyTheme() {
  document.documentElement.dataset.theme = currentTheme();
  for (const watcher of watchers) watcher();
}

/** Starts following the system. */
export function startTheme() {
  askSystem().addEventListener("change", applyTheme);
  applyTheme();
}

/** Changes to the other theme, and keeps the choice. */
export function toggleTheme() {
  const choice = currentTheme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    document.documentElement.dataset.theme = choice; // not kept, but shown
  }
  applyTheme();
}

/**
 * Hears every change of theme until the returned function is called.
 * @param {() => void} watcher
 * @returns {() => void}
 */
export function watchTheme(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
