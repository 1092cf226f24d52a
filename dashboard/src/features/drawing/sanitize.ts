/** Copies a drawing with the elements and attributes that a drawing needs, and nothing else. */

const SVG = "http://www.w3.org/2000/svg";
const COMMON = ["class", "transform", "data-id", "data-of", "fill", "stroke", "stroke-width"];

/** The allowed attributes of each allowed element. */
const ALLOWED: Record<string, string[]> = {
  g: ["id"],
  path: ["d"],
  circle: ["cx", "cy", "r"],
  ellipse: ["cx", "cy", "rx", "ry"],
  rect: ["x", "y", "width", "height", "rx", "ry"],
  line: ["x1", "y1", "x2", "y2"],
  polyline: ["points"],
  polygon: ["points"],
  text: ["x", "y", "font-size", "text-anchor"],
  tspan: ["x", "y", "dx", "dy", "font-size"],
};

export function isAllowedElement(name: string): boolean {
  return Object.hasOwn(ALLOWED, name);
}

/** A value that refers to nothing outside of the drawing. */
export function isAllowedAttribute(element: string, name: string, value: string): boolean {
  if (!COMMON.includes(name) && !ALLOWED[element]?.includes(name)) return false;
  if (name === "data-id" || name === "data-of" || name === "class") return true;
  return !/url\s*\(|javascript:|\\/i.test(value);
}

/** The part of the Trusted Types API that is used here. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createHTML: (text: string) => string },
  ): { createHTML(text: string): string };
}

/** Only parsed, never shown: `sanitizeDrawing` takes over what may be. */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("pidq-drawing", {
  createHTML: (text) => text,
});

/**
 * Parses a drawing as XML, so that no script in it can run. The style sheet is left out: the Content-Security-Policy
 * forbids style elements, and `theme.ts` has the style.
 */
export function parseDrawing(text: string): Document {
  const markup = text.replace(/<style\b[^>]*>[^<]*<\/style>/g, "");
  return new DOMParser().parseFromString(policy?.createHTML(markup) ?? markup, "image/svg+xml");
}

export function sanitizeDrawing(source: Document): SVGSVGElement {
  const target = document.createElementNS(SVG, "svg");
  const viewBox = source.documentElement.getAttribute("viewBox");
  if (viewBox) target.setAttribute("viewBox", viewBox);
  copyChildren(source.documentElement, target);
  return target;
}

function copyChildren(source: Element, target: Element): void {
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE && (target.localName === "text" || target.localName === "tspan")) {
      target.append(child.textContent ?? "");
    }
    if (!(child instanceof Element)) continue;
    if (child.namespaceURI !== SVG || !isAllowedElement(child.localName)) continue;
    const copy = document.createElementNS(SVG, child.localName);
    for (const { name, value } of child.attributes) {
      if (isAllowedAttribute(child.localName, name, value)) copy.setAttribute(name, value);
    }
    copyChildren(child, copy);
    target.append(copy);
  }
}
