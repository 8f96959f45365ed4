/**
 * Making elements. The only place that creates any: whatever is given as content becomes text and nothing else, so a
 * memory that looks like markup is shown as it was written.
 */

const SVG = "http://www.w3.org/2000/svg";
/** Attributes that run code or load something; a page has no business with them. */
const REFUSED = /^(on|style$|srcdoc$|src$|formaction$|xlink:)/i;

/** @typedef {Node | string | number | null | undefined | false | Array<any>} Child */

/**
 * An HTML element. `attributes.on` maps events to listeners; true stands for an empty attribute, null and false for none.
 * @param {string} tag @param {Record<string, any>} [attributes] @param {...Child} children
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. @param {string} tag @param {Record<string, any>} [attributes] @param {...Child} children */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** What several children become together. @param {...Child} children */
export function several(...children) {
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  return fragment;
}

function filled(element, { on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (REFUSED.test(name) || (name === "href" && !local(String(value)))) throw new TypeError(`refused: ${name}`);
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  append(element, children);
  return element;
}

/** Links lead to pages of the console and nowhere else. */
function local(href) {
  return href.startsWith("#") || (href.startsWith("/") && !href.startsWith("//"));
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

/** Hand the browser a file to keep. @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
