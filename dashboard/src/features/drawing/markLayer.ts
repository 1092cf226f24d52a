/** Marks, ghosts of removed items and connections between sheets: what lies over the tiles and is painted in each frame. */
import type { Box, Transform } from "./geometry";
import type { Marks, MarkTone } from "./marks";
import { type Canvas2D, Painter } from "./paint";
import type { ColorName, Palette } from "./palette";
import type { PictureItem, Shape } from "./picture";

export interface Point {
  x: number;
  y: number;
}

/** Two connectors of different sheets that continue each other. */
export interface Connection {
  from: Point;
  to: Point;
}

const TONES: Record<MarkTone, ColorName> = {
  hit: "accent",
  close: "close",
  inside: "mark-inside",
  open: "danger",
  removed: "danger",
  added: "success",
  changed: "warning",
};

interface ToneMarks {
  tone: MarkTone;
  boxes: Box[];
  lines: Path2D;
}

export class MarkLayer {
  private ghosts: Shape[] = [];
  connections: Connection[] = [];
  private tones: ToneMarks[] = [];
  private selected: PictureItem | null = null;
  private ghostPainter: Painter;

  constructor(private palette: Palette) {
    this.ghostPainter = new Painter(palette, "danger");
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.ghostPainter = new Painter(palette, "danger");
  }

  setGhosts(items: ReadonlyMap<string, PictureItem>): void {
    this.ghosts = [...items.values()].flatMap((item) => item.shapes);
  }

  setMarks(items: ReadonlyMap<string, PictureItem>, marks: Marks, selected: PictureItem | null): void {
    const tones = new Map<MarkTone, ToneMarks>();
    for (const [id, tone] of marks) {
      const item = items.get(id);
      if (item === undefined) continue;
      const group = tones.get(tone) ?? { tone, boxes: [], lines: new Path2D() };
      tones.set(tone, group);
      if (item.isLine) addOutline(group.lines, item);
      else group.boxes.push(item.box);
    }
    this.tones = [...tones.values()];
    this.selected = selected;
  }

  paint(context: Canvas2D, view: Transform): void {
    context.lineCap = "round";
    context.lineJoin = "round";
    this.ghostPainter.paint(context, this.ghosts, view);
    context.setTransform(view.k, 0, 0, view.k, view.x, view.y);
    this.paintConnections(context, view.k);
    // As if the marks were behind the lines.
    context.globalCompositeOperation = this.palette.isDark ? "screen" : "multiply";
    for (const group of this.tones) this.paintTone(context, group, view.k);
    context.globalCompositeOperation = "source-over";
    if (this.selected !== null) this.paintSelected(context, this.selected, view.k);
    context.globalAlpha = 1;
    context.setLineDash([]);
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  private paintTone(context: Canvas2D, { tone, boxes, lines }: ToneMarks, scale: number): void {
    const color = this.palette.colors[TONES[tone]];
    context.fillStyle = color;
    context.strokeStyle = color;
    context.globalAlpha = 0.5;
    context.lineWidth = between(7, 3, 8, scale);
    context.stroke(lines);
    if (boxes.length === 0) return;
    const path = new Path2D();
    for (const box of boxes) addBox(path, box, between(5, 2.5, 5, scale));
    context.globalAlpha = 0.3;
    context.fill(path);
    context.globalAlpha = 1;
    context.lineWidth = between(1.5, 1, 2, scale);
    context.stroke(path);
  }

  private paintSelected(context: Canvas2D, item: PictureItem, scale: number): void {
    context.strokeStyle = this.palette.colors.accent;
    context.fillStyle = this.palette.colors.accent;
    const path = new Path2D();
    if (item.isLine) {
      addOutline(path, item);
      context.globalAlpha = 0.8;
      context.lineWidth = between(5, 3, 6, scale);
    } else {
      addBox(path, item.box, between(8, 4, 8, scale));
      context.globalAlpha = 0.12;
      context.fill(path);
      context.globalAlpha = 1;
      context.lineWidth = between(2.5, 2, 3, scale);
      context.setLineDash([5 / scale, 3 / scale]);
    }
    context.stroke(path);
  }

  private paintConnections(context: Canvas2D, scale: number): void {
    if (this.connections.length === 0) return;
    const path = new Path2D();
    for (const { from, to } of this.connections) {
      const bend = Math.max(Math.abs(to.x - from.x) / 2, 60);
      path.moveTo(from.x, from.y);
      path.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
    }
    context.strokeStyle = this.palette.colors.accent;
    context.globalAlpha = 0.75;
    context.lineWidth = between(2.5, 1.5, 4, scale);
    context.setLineDash([8 / scale, 5 / scale]);
    context.stroke(path);
    context.setLineDash([]);
  }
}

/** A size on the drawing that stays between two sizes in pixels: sheets in millimeters have small symbols. */
function between(size: number, least: number, most: number, scale: number): number {
  return Math.min(Math.max(size * scale, least), most) / scale;
}

function addOutline(path: Path2D, item: PictureItem): void {
  for (const shape of item.shapes) path.addPath(new Path2D(shape.data), new DOMMatrix([...shape.matrix]));
}

function addBox(path: Path2D, { x, y, width, height }: Box, margin: number): void {
  path.roundRect(x - margin, y - margin, width + 2 * margin, height + 2 * margin, margin / 2);
}
