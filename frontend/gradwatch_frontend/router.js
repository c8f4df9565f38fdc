/** Addresses of the pages and the way between them (History API). Owns the address bar, no page. */

/**
 * @typedef {{page: "runs", query: URLSearchParams}
 *   | {page: "run", id: string, query: URLSearchParams}
 *   | {page: "compare", query: URLSearchParams}
 *   | {page: "alerts", query: URLSearchParams}
 *   | {page: "login", query: URLSearchParams}
 *   | {page: "unknown", path: string, query: URLSearchParams}} Route
 */

/**
 * Reads an address.
 * @param {string} path
 * @param {string} search
 * @returns {Route}
 */
export function parseRoute(path, search) {
  const query = new URLSearchParams(search);
  if (path === "/" || path === "/runs" || path === "/runs/") return { page: "runs", query };
  if (path === "/compare" || path === "/compare/") return { page: "compare", query };
  if (path === "/alerts" || path === "/alerts/") return { page: "alerts", query };
  if (path === "/login" || path === "/login/") return { page: "login", query };
  const run = /^\/runs\/([^/]+)\/?$/.exec(path);
  const id = run === null ? null : decode(run[1] ?? "");
  return id === null ? { page: "unknown", path, query } : { page: "run", id, query };
}

/**
 * @param {string} text
 * @returns {string | null}
 */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * Writes a run's address.
 * @param {string} id
 * @returns {string}
 */
export const runPath = (id) => `/runs/${encodeURIComponent(id)}`;

/**
 * Writes a comparison's address.
 * @param {string[]} ids
 * @returns {string}
 */
export const comparePath = (ids) => `/compare?${ids.map((id) => `run=${encodeURIComponent(id)}`).join("&")}`;

export class Router {
  #show;

  /** @param {(route: Route) => void} show draws a page, called at every change of address */
  constructor(show) {
    this.#show = show;
  }

  /** Draws the page of the present address, and takes over the links of the document. */
  start() {
    window.addEventListener("popstate", () => this.#draw());
    document.addEventListener("click", (event) => this.#follow(event));
    this.#draw();
  }

  /**
   * Goes to another page.
   * @param {string} address
   */
  go(address) {
    history.pushState(null, "", address);
    window.scrollTo(0, 0);
    this.#draw();
  }

  /**
   * Writes the page's state into the address, without drawing it again.
   * @param {Record<string, string | number | null | string[]>} state empty values are removed
   */
  remember(state) {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(state)) {
      query.delete(name);
      if (Array.isArray(value)) for (const item of value) query.append(name, item);
      else if (value !== null && value !== "") query.set(name, String(value));
    }
    // A slash is legal in a query, and layer paths are full of them.
    const text = query.toString().replaceAll("%2F", "/");
    history.replaceState(null, "", `${location.pathname}${text === "" ? "" : `?${text}`}`);
  }

  #draw() {
    this.#show(parseRoute(location.pathname, location.search));
  }

  /** @param {MouseEvent} event */
  #follow(event) {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.origin !== location.origin || link.hasAttribute("download")) return;
    const route = parseRoute(link.pathname, link.search);
    if (route.page === "unknown" || link.hash !== "") return;
    event.preventDefault();
    this.go(`${link.pathname}${link.search}`);
  }
}
