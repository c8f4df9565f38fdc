/** A button that opens a panel under itself: closed by Escape, by a click elsewhere, or by the button again. */

import { h } from "./dom.js";

export class Menu {
  /** Called before the panel is shown. */
  onOpen = () => {};

  /**
   * @param {string} label what the panel is, for a screen reader
   * @param {{className?: string, title?: string}} [options]
   */
  constructor(label, { className = "button", title } = {}) {
    this.button = h("button", { type: "button", class: className, "aria-expanded": "false", "aria-haspopup": "true", title, onclick: () => this.toggle() });
    this.panel = h("div", { class: "menu-panel card", role: "group", "aria-label": label, hidden: true });
    this.element = h("div", { class: "menu" }, this.button, this.panel);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.panel.hidden) return;
      event.stopPropagation();
      this.close();
      this.button.focus();
    });
    this.outside = (/** @type {PointerEvent} */ event) => {
      if (event.target instanceof Node && !this.element.contains(event.target)) this.close();
    };
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  toggle() {
    if (this.isOpen) return this.close();
    this.onOpen();
    this.panel.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", this.outside, true);
  }

  close() {
    this.panel.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", this.outside, true);
  }
}
