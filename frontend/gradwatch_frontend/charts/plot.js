/**
 * Drawing a figure: fetches its specification once for each theme, redraws with `Plotly.react` at most four times a second,
 * and keeps width and theme in step with the page. Knows no data: a `build` function puts it in.
 */

import { fetchFigure } from "../api.js";
import { currentTheme, watchTheme } from "../theme.js";

const REDRAW_MS = 250;
const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

/** @typedef {{data: any[], layout: any}} Specification */
/** @typedef {(specification: Specification, width: number) => Specification} Build */

/** @type {Map<string, Promise<import("../schema.js").Figure>>} */
const specifications = new Map();

/**
 * Fetches a specification, once.
 * @param {string} name
 * @param {import("../theme.js").Theme} theme
 * @returns {Promise<Specification>} a copy of its own
 */
export async function loadFigure(name, theme) {
  const key = `${name} ${theme}`;
  let loading = specifications.get(key);
  if (loading === undefined) {
    loading = fetchFigure(name, theme);
    specifications.set(key, loading);
    loading.catch(() => specifications.delete(key)); // a failure is not kept: the next redraw tries again
  }
  return /** @type {Specification} */ (structuredClone(await loading));
}

/**
 * Finds the trace that plays a role.
 * @param {Specification} specification
 * @param {string} role
 * @returns {any}
 */
export function findTrace(specification, role) {
  const trace = specification.data.find((each) => each.meta?.role === role);
  if (trace === undefined) throw new Error(`The figure has no trace with the role ${role}: reload the page.`);
  return trace;
}

/**
 * Plotly reads a few tags in labels; a layer's name is only ever text.
 * @param {string} text
 * @returns {string}
 */
export const escapeMarkup = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * Stacks the rows again for other heights.
 * @param {any} layout with `meta.rows` and `meta.gap_px`
 * @param {Record<string, number>} heights in pixels, by row name; 0 leaves a row out
 */
export function stackRows(layout, heights) {
  const rows = layout.meta.rows.map((/** @type {{name: string, axis: string, height_px: number}} */ row) => ({
    ...row,
    height_px: heights[row.name] ?? row.height_px,
  }));
  const shown = rows.filter((/** @type {{height_px: number}} */ row) => row.height_px > 0);
  const gap = layout.meta.gap_px;
  const inner = shown.reduce((/** @type {number} */ sum, /** @type {{height_px: number}} */ row) => sum + row.height_px, 0) + gap * (shown.length - 1);
  let above = 0;
  for (const row of rows) {
    if (row.height_px === 0) {
      layout[row.axis] = { ...layout[row.axis], visible: false, domain: [0, 0.0001] };
      continue;
    }
    layout[row.axis].domain = [Math.max(0, 1 - (above + row.height_px) / inner), 1 - above / inner];
    above += row.height_px + gap;
  }
  layout.height = inner + layout.margin.t + layout.margin.b;
}

export class Plot {
  #name;
  /** @type {Build | null} */
  #build = null;
  #drawnAt = 0;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  #isDrawing = false;
  #isDirty = false;
  #isClosed = false;
  #width = 0;
  #unwatch;
  #observer;
  /** Called after every drawing with the element, whose `_fullLayout` has the axes. @type {(element: PlotlyElement) => void} */
  onDrawn = () => {};
  /** @type {(error: unknown) => void} */
  onError = () => {};

  /**
   * @param {HTMLElement} element where to draw
   * @param {string} name of the figure
   */
  constructor(element, name) {
    this.element = element;
    this.#name = name;
    this.#unwatch = watchTheme(() => this.redraw());
    this.#observer = new ResizeObserver(() => {
      if (element.clientWidth !== this.#width) this.redraw();
    });
    this.#observer.observe(element);
  }

  /**
   * Draws with another build function, soon.
   * @param {Build} build
   */
  draw(build) {
    this.#build = build;
    this.redraw();
  }

  /** Draws again, soon; many calls make one drawing. */
  redraw() {
    if (this.#isClosed || this.#build === null || this.#timer !== null) return;
    if (this.#isDrawing) {
      this.#isDirty = true;
      return;
    }
    const wait = Math.max(0, this.#drawnAt + REDRAW_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#drawNow();
    }, wait);
  }

  async #drawNow() {
    this.#isDrawing = true;
    this.#isDirty = false;
    try {
      const specification = await loadFigure(this.#name, currentTheme());
      const width = this.element.clientWidth;
      if (this.#isClosed || this.#build === null || width === 0) return;
      this.#width = width;
      const { data, layout } = this.#build(specification, width);
      layout.width = width;
      this.onDrawn(await Plotly.react(this.element, data, layout, CONFIG));
      this.element.dataset.drawn = "true";
    } catch (error) {
      this.onError(error);
    } finally {
      this.#drawnAt = performance.now();
      this.#isDrawing = false;
      if (this.#isDirty) this.redraw();
    }
  }

  /** Gives everything back. */
  close() {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#unwatch();
    this.#observer.disconnect();
    Plotly.purge(this.element);
  }
}
