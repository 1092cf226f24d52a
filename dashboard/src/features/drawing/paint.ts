/** Paints the shapes of a picture on a canvas. */
import type { Transform } from "./geometry";
import { scaleOf } from "./matrix";
import { type ColorName, inkOf, type Palette } from "./palette";
import { type Paint, type Shape, textSize } from "./picture";

export type Canvas2D = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

interface Style {
  fill?: ColorName;
  stroke?: ColorName;
  width?: number;
  dash?: number[];
  isBold?: boolean;
  anchor?: string;
}

/** The classes of the drawings that the service makes, one row per class. */
const STYLES: Record<string, Style> = {
  p: { stroke: "text", width: 1.6 },
  a: { fill: "text" },
  g: { stroke: "close", width: 1, dash: [5, 3] },
  o: { stroke: "close", width: 0.8 },
  s: { fill: "surface", stroke: "text", width: 1.3 },
  n: { stroke: "text", width: 1.3 },
  d: { stroke: "text", width: 0.9, dash: [3, 2] },
  w: { stroke: "text", width: 3 },
  f: { fill: "text", stroke: "text", width: 0.8 },
  e: { isBold: true },
  z: { fill: "text-muted" },
  l: { fill: "warning" },
  m: { fill: "text-muted", anchor: "end" },
  k: { anchor: "start" },
};
/** The paper is the background of the canvas. */
const PAPER = "b";

/** Texts and shapes smaller than this, in pixels, are not painted. */
const LEAST_TEXT = 3;
const LEAST_SHAPE = 0.6;
/** Thinner lines, in pixels, would fade. */
const LEAST_LINE = 0.6;
/** Width of the paper around a text. */
const HALO = 2.5;
const LEAST_TEXT_WITH_HALO = 5;

const NO_DASH: number[] = [];

export class Painter {
  private readonly paths = new Map<string, Path2D>();
  private readonly styles = new Map<string, Style>();

  constructor(
    private readonly palette: Palette,
    /** Paints everything as dashed outlines in this color. */
    private readonly ghostColor: ColorName | null = null,
  ) {}

  /** Paints with a transform to device pixels. */
  paint(context: Canvas2D, shapes: Iterable<Shape>, view: Transform): void {
    context.lineJoin = "round";
    context.lineCap = "round";
    for (const shape of shapes) {
      if (shape.style === PAPER) continue;
      if (shape.text === null) this.outline(context, shape, view);
      else this.text(context, shape, shape.text.content, view);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.setLineDash(NO_DASH);
  }

  pathOf(shape: Shape): Path2D {
    let path = this.paths.get(shape.data);
    if (path === undefined) {
      path = new Path2D(shape.data);
      this.paths.set(shape.data, path);
    }
    return path;
  }

  private outline(context: Canvas2D, shape: Shape, view: Transform): void {
    if (Math.max(shape.box.width, shape.box.height) * view.k < LEAST_SHAPE) return;
    const style = this.styleOf(shape.style);
    const { paint } = shape;
    const scale = scaleOf(shape.matrix) * view.k;
    const path = this.pathOf(shape);
    place(context, shape, view);
    const fill = this.color(paint.fill ?? defaultFill(shape, style), style.fill);
    if (fill !== null) {
      context.fillStyle = fill;
      context.globalAlpha = paint.fillOpacity ?? 1;
      context.fill(path);
    }
    const stroke = this.color(paint.stroke, style.stroke);
    if (stroke !== null) {
      context.strokeStyle = stroke;
      context.globalAlpha = paint.strokeOpacity ?? 1;
      context.lineWidth = Math.max(paint.width ?? style.width ?? 1, LEAST_LINE / scale);
      context.setLineDash(this.ghostColor ? [4, 3] : (paint.dash ?? style.dash ?? NO_DASH));
      context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  private text(context: Canvas2D, shape: Shape, content: string, view: Transform): void {
    const size = textSize(shape) * view.k;
    if (size < LEAST_TEXT || shape.text === null) return;
    const style = this.styleOf(shape.style);
    const anchor = shape.text.anchor ?? style.anchor ?? (shape.style === "" ? "start" : "middle");
    place(context, shape, view);
    context.font = `${style.isBold ? "bold " : ""}${shape.text.size}px ${this.palette.font}`;
    context.textAlign = anchor === "middle" ? "center" : anchor === "end" ? "end" : "start";
    // Texts of the sheet itself may lie close together, and have no class.
    if (shape.style !== "" && size >= LEAST_TEXT_WITH_HALO) {
      context.strokeStyle = this.palette.colors.surface;
      context.lineWidth = HALO;
      context.setLineDash(NO_DASH);
      context.strokeText(content, shape.text.x, shape.text.y);
    }
    context.fillStyle = this.color(shape.paint.fill, style.fill ?? "text") ?? this.palette.colors.text;
    context.fillText(content, shape.text.x, shape.text.y);
  }

  /** The color that a shape states, or that of its class; null for none. */
  private color(stated: string | undefined, ofClass: ColorName | undefined): string | null {
    const { colors } = this.palette;
    if (this.ghostColor !== null) {
      const isNone = stated === "none" || (stated === undefined && ofClass === undefined);
      return isNone || ofClass === "surface" ? null : colors[this.ghostColor];
    }
    if (stated === "none") return null;
    if (stated !== undefined) return inkOf(stated, this.palette);
    return ofClass === undefined ? null : colors[ofClass];
  }

  private styleOf(classes: string): Style {
    let style = this.styles.get(classes);
    if (style === undefined) {
      style = {};
      for (const name of classes.split(" ")) {
        if (Object.hasOwn(STYLES, name)) Object.assign(style, STYLES[name]);
      }
      this.styles.set(classes, style);
    }
    return style;
  }
}

/** SVG fills what states nothing. */
function defaultFill({ paint }: { paint: Paint }, style: Style): string | undefined {
  const isStyled = style.fill !== undefined || style.stroke !== undefined || paint.stroke !== undefined;
  return isStyled ? undefined : "#000000";
}

function place(context: Canvas2D, { matrix }: Shape, { x, y, k }: Transform): void {
  const [a, b, c, d, e, f] = matrix;
  context.setTransform(a * k, b * k, c * k, d * k, e * k + x, f * k + y);
}
