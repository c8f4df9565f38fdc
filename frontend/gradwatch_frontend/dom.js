/** Building the document: elements from plain descriptions. Text only ever becomes text nodes, so data cannot become markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * Builds an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes] functions under names like `onclick` become listeners; false and null are left out
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  apply(element, attributes);
  element.append(...keep(children.flat()));
  return element;
}

/**
 * Builds an SVG element.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(element, attributes);
  element.append(...keep(children.flat()));
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function apply(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function keep(children) {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}

/**
 * Replaces what an element holds, but leaves it alone when nothing changed: focus and selection survive a live update.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const fresh = document.createElement("div");
  fresh.append(...keep(children.flat()));
  if (element.childNodes.length === fresh.childNodes.length) {
    const old = [...element.childNodes];
    if (old.every((node, i) => node.isEqualNode(/** @type {Node} */ (fresh.childNodes[i])))) return;
  }
  element.replaceChildren(...fresh.childNodes);
}

/**
 * A button that copies a text and says so.
 * @param {() => string} read
 * @param {string} [label] what a screen reader says
 * @returns {HTMLButtonElement}
 */
export function copyButton(read, label = "Copy") {
  const button = h("button", { type: "button", class: "button small", "aria-label": label }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(read())) ? "Copied" : "Select it";
    setTimeout(() => (button.textContent = "Copy"), 1600);
  });
  return button;
}

/**
 * @param {string} text
 * @returns {Promise<boolean>} whether the clipboard took it
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard API wants https or localhost; a dashboard on another machine of the lab has neither.
    const area = h("textarea", { class: "off-screen", "aria-hidden": "true" }, text);
    document.body.append(area);
    area.select();
    const taken = document.execCommand("copy");
    area.remove();
    return taken;
  }
}
