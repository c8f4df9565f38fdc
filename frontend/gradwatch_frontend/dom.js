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
 * Makes an element hold these children, changing only what differs: focus, selection, an opened detail and a click under way
 * survive a live update. An element whose listeners belong to one thing carries that thing's `data-key`, and is never made
 * into another's.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const fresh = document.createDocumentFragment();
  fresh.append(...keep(children.flat()));
  reconcile(element, [...fresh.childNodes]);
}

/**
 * @param {Element} parent
 * @param {ChildNode[]} nodes
 */
function reconcile(parent, nodes) {
  /** @type {Map<string, ChildNode>} */
  const keyed = new Map();
  for (const child of parent.childNodes) {
    const key = readKey(child);
    if (key !== null) keyed.set(key, child);
  }
  nodes.forEach((node, i) => {
    const key = readKey(node);
    const here = parent.childNodes[i] ?? null;
    const old = key === null ? here : (keyed.get(key) ?? null);
    if (old === null || readKey(old) !== key) parent.insertBefore(node, here);
    else {
      if (old !== here) parent.insertBefore(old, here);
      patch(old, node);
    }
  });
  while (parent.childNodes.length > nodes.length) parent.lastChild?.remove();
}

/**
 * @param {Node} node
 * @returns {string | null}
 */
const readKey = (node) => (node instanceof HTMLElement ? (node.dataset.key ?? null) : null);

/**
 * @param {ChildNode} old
 * @param {ChildNode} fresh
 */
function patch(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old instanceof Text && fresh instanceof Text) {
    old.data = fresh.data;
  } else if (old instanceof HTMLElement && fresh instanceof HTMLElement && old.tagName === fresh.tagName) {
    patchAttributes(old, fresh);
    reconcile(old, [...fresh.childNodes]);
  } else {
    old.replaceWith(fresh);
  }
}

/**
 * @param {HTMLElement} old
 * @param {HTMLElement} fresh
 */
function patchAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    // Whether a detail is open is the reader's affair.
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && name !== "open") old.setAttribute(name, value);
  }
  if (old instanceof HTMLInputElement && fresh instanceof HTMLInputElement) old.checked = fresh.checked;
  if (old instanceof HTMLOptionElement && fresh instanceof HTMLOptionElement) old.selected = fresh.selected;
}

/**
 * Turns a text with `code` in backticks into nodes.
 * @param {string} text
 * @returns {Child[]}
 */
export function prose(text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text]; // a backtick alone is just one
  return parts.map((part, i) => (i % 2 === 1 ? h("code", {}, part) : part));
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
