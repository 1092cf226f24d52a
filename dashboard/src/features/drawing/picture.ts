/**
 * The picture of a drawing as a list of shapes, read from SVG.
 *
 * Nothing of the text becomes an element of the page: unknown elements and attributes are left out, and what is kept is
 * painted on a canvas.
 */
import { type Box, parseViewBox } from "./geometry";
import { IDENTITY, type Matrix, multiply, parseTransform, scaleOf, transformBox } from "./matrix";
import { Bounds, pathBox } from "./pathBox";

/** Paint of a shape whose class does not state one. */
export interface Paint {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  fillOpacity?: number;
  strokeOpacity?: number;
}

export interface TextContent {
  content: string;
  x: number;
  y: number;
  size: number;
  anchor: string | null;
}

export interface Shape {
  /** The item that the shape shows or names, or null for the sheet. */
  item: string | null;
  style: string;
  paint: Paint;
  matrix: Matrix;
  /** In the coordinates of the drawing, without the width of the stroke. */
  box: Box;
  /** Path data, unless the shape is a text. */
  data: string;
  text: TextContent | null;
}

export interface PictureItem {
  id: string;
  box: Box;
  isLine: boolean;
  /** The outlines of the item, without its texts. */
  shapes: Shape[];
}

export interface Picture {
  extent: Box;
  /** In the order of painting. */
  shapes: Shape[];
  items: Map<string, PictureItem>;
}

interface Context {
  matrix: Matrix;
  paint: Paint;
  item: string | null;
  isLine: boolean;
}

const TAG = /<(\/?)([A-Za-z][\w:.-]*)((?:[^"'<>]|"[^"]*"|'[^']*')*?)(\/?)>|([^<]+)|<[^>]*>/g;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Reads a picture; returns null if the text is no SVG. */
export function parsePicture(text: string): Picture | null {
  const reader = new PictureReader();
  for (const [, end, name, attributes, empty, content] of text.matchAll(TAG)) {
    if (content !== undefined) reader.text(content);
    else if (name === undefined) continue;
    else if (end) reader.end(name);
    else reader.start(name, attributes ?? "", empty === "/");
  }
  return reader.picture;
}

class PictureReader {
  picture: Picture | null = null;
  private readonly contexts: Context[] = [];
  private textShape: Shape | null = null;

  start(name: string, attributeText: string, isEmpty: boolean): void {
    const attributes = parseAttributes(attributeText);
    if (name === "svg" && this.picture === null) {
      this.picture = {
        extent: parseViewBox(attributes.get("viewBox") ?? null),
        shapes: [],
        items: new Map(),
      };
    }
    const context = this.inner(name, attributes);
    if (this.picture !== null) this.add(this.picture, name, attributes, context);
    if (!isEmpty) this.contexts.push(context);
  }

  end(name: string): void {
    this.contexts.pop();
    if (name === "text") this.endText();
  }

  text(content: string): void {
    if (this.textShape?.text) this.textShape.text.content += unescaped(content);
  }

  private inner(name: string, attributes: Map<string, string>): Context {
    const outer = this.contexts.at(-1) ?? { matrix: IDENTITY, paint: {}, item: null, isLine: false };
    const transform = attributes.get("transform");
    const id = attributes.get("data-id");
    const style = attributes.get("class") ?? "";
    return {
      matrix: transform === undefined ? outer.matrix : multiply(outer.matrix, parseTransform(transform)),
      paint: paintOf(attributes, outer.paint),
      item: id ?? outer.item,
      isLine: id === undefined ? outer.isLine : name === "path" || style === "pipe" || style === "signal",
    };
  }

  private add(picture: Picture, name: string, attributes: Map<string, string>, context: Context): void {
    const { matrix, paint, item, isLine } = context;
    const style = attributes.get("class") ?? "";
    if (name === "text") {
      const text = textOf(attributes);
      const named = attributes.get("data-of") ?? item;
      this.textShape = { item: named, style, paint, matrix, box: picture.extent, data: "", text };
      return;
    }
    const data = Object.hasOwn(OUTLINES, name) ? (OUTLINES[name]?.(attributes) ?? "") : "";
    const box = data === "" ? null : pathBox(data);
    if (box === null) return;
    const shape = { item, style, paint, matrix, box: transformBox(matrix, box), data, text: null };
    picture.shapes.push(shape);
    if (item !== null) addToItem(picture, item, isLine, shape);
  }

  private endText(): void {
    const shape = this.textShape;
    this.textShape = null;
    if (!shape?.text || shape.text.content.trim() === "") return;
    shape.box = transformBox(shape.matrix, textBox(shape.text));
    this.picture?.shapes.push(shape);
  }
}

function addToItem(picture: Picture, id: string, isLine: boolean, shape: Shape): void {
  const item = picture.items.get(id);
  if (item === undefined) {
    picture.items.set(id, { id, box: shape.box, isLine, shapes: [shape] });
    return;
  }
  item.shapes.push(shape);
  const bounds = new Bounds();
  bounds.addBox(item.box);
  bounds.addBox(shape.box);
  item.box = bounds.box() ?? item.box;
}

type Attributes = Map<string, string>;

const numberOf = (attributes: Attributes, name: string): number => {
  const value = Number(attributes.get(name) ?? 0);
  return Number.isFinite(value) ? value : 0;
};

/** Path data of the elements that have an outline, one row per element. */
const OUTLINES: Record<string, (attributes: Attributes) => string> = {
  path: (attributes) => attributes.get("d") ?? "",
  circle: (attributes) => {
    const radius = numberOf(attributes, "r");
    return ellipse(numberOf(attributes, "cx"), numberOf(attributes, "cy"), radius, radius);
  },
  ellipse: (attributes) =>
    ellipse(
      numberOf(attributes, "cx"),
      numberOf(attributes, "cy"),
      numberOf(attributes, "rx"),
      numberOf(attributes, "ry"),
    ),
  rect: (attributes) => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => numberOf(attributes, name));
    return `M${x} ${y}h${width}v${height}h${-(width ?? 0)}Z`;
  },
  line: (attributes) => {
    const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => numberOf(attributes, name));
    return `M${x1} ${y1}L${x2} ${y2}`;
  },
  polyline: (attributes) => `M${attributes.get("points") ?? ""}`,
  polygon: (attributes) => `M${attributes.get("points") ?? ""}Z`,
};

function ellipse(x: number, y: number, radiusX: number, radiusY: number): string {
  const arc = `${radiusX} ${radiusY} 0 0 1`;
  return `M${x - radiusX} ${y}A${arc} ${x + radiusX} ${y}A${arc} ${x - radiusX} ${y}Z`;
}

function textOf(attributes: Attributes): TextContent {
  return {
    content: "",
    x: numberOf(attributes, "x"),
    y: numberOf(attributes, "y"),
    size: numberOf(attributes, "font-size") || 10,
    anchor: attributes.get("text-anchor") ?? null,
  };
}

/** Enough room for a text, whatever its anchor is: fonts are not measured. */
function textBox({ content, x, y, size }: TextContent): Box {
  const width = content.length * size * 0.75;
  return { x: x - width, y: y - size, width: 2 * width, height: 1.4 * size };
}

function paintOf(attributes: Attributes, outer: Paint): Paint {
  const own: Paint = {};
  const fill = attributes.get("fill");
  const stroke = attributes.get("stroke");
  const width = attributes.get("stroke-width");
  const dash = attributes.get("stroke-dasharray");
  const fillOpacity = attributes.get("fill-opacity");
  const strokeOpacity = attributes.get("stroke-opacity");
  if (fill !== undefined && isColor(fill)) own.fill = fill;
  if (stroke !== undefined && isColor(stroke)) own.stroke = stroke;
  if (width !== undefined) own.width = Number(width) || 0;
  if (dash !== undefined) own.dash = dash.split(/[\s,]+/).map((part) => Number(part) || 0);
  if (fillOpacity !== undefined) own.fillOpacity = Number(fillOpacity) || 0;
  if (strokeOpacity !== undefined) own.strokeOpacity = Number(strokeOpacity) || 0;
  return Object.keys(own).length === 0 ? outer : { ...outer, ...own };
}

/** A color or `none`, and nothing that refers to something else. */
function isColor(value: string): boolean {
  return /^(#[0-9a-f]{3,8}|[a-z]+|rgba?\([\d\s.,%/]+\))$/i.test(value);
}

function parseAttributes(text: string): Attributes {
  const attributes: Attributes = new Map();
  for (const [, name = "", double, single] of text.matchAll(ATTRIBUTE)) {
    attributes.set(name, unescaped(double ?? single ?? ""));
  }
  return attributes;
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (all, hex, decimal, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? all) : all;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

/** The picture at another place, its items with other ids. */
export function placedPicture(
  picture: Picture,
  matrix: Matrix,
  rename: (id: string) => string = (id) => id,
): Picture {
  const copies = new Map<Shape, Shape>();
  const shapes = picture.shapes.map((shape) => {
    const copy = {
      ...shape,
      item: shape.item === null ? null : rename(shape.item),
      matrix: multiply(matrix, shape.matrix),
      box: transformBox(matrix, shape.box),
    };
    copies.set(shape, copy);
    return copy;
  });
  const items = new Map<string, PictureItem>();
  for (const item of picture.items.values()) {
    const id = rename(item.id);
    items.set(id, {
      ...item,
      id,
      box: transformBox(matrix, item.box),
      shapes: item.shapes.map((shape) => copies.get(shape) ?? shape),
    });
  }
  return { extent: transformBox(matrix, picture.extent), shapes, items };
}

/** Pictures that lie beside each other, as one. */
export function combinedPicture(pictures: Picture[]): Picture {
  const bounds = new Bounds();
  const items = new Map<string, PictureItem>();
  for (const picture of pictures) {
    bounds.addBox(picture.extent);
    for (const [id, item] of picture.items) items.set(id, item);
  }
  const extent = bounds.box() ?? parseViewBox(null);
  return { extent, shapes: pictures.flatMap((picture) => picture.shapes), items };
}

/** The size of a text on paper, whatever encloses it. */
export function textSize(shape: Shape): number {
  return (shape.text?.size ?? 0) * scaleOf(shape.matrix);
}
