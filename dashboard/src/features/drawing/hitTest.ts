/** Finds the item at a point of a drawing. */
import { type Box, distanceTo } from "./geometry";
import { Grid } from "./grid";
import type { Picture, PictureItem } from "./picture";

export class HitTest {
  private readonly items: PictureItem[];
  private readonly grid: Grid;
  private readonly context = new OffscreenCanvas(1, 1).getContext("2d");
  private readonly paths = new WeakMap<PictureItem, Path2D>();

  constructor(picture: Picture) {
    this.items = [...picture.items.values()];
    this.grid = new Grid(
      this.items.map((item) => item.box),
      picture.extent,
    );
  }

  /**
   * The item at a point, or one nearby: pipes are thin. A symbol whose outline is hit comes before a pipe, and the smaller
   * symbol before the larger; then come symbols beside the point.
   */
  itemAt(x: number, y: number, tolerance: number): PictureItem | null {
    const area: Box = { x: x - tolerance, y: y - tolerance, width: 2 * tolerance, height: 2 * tolerance };
    const near = this.grid.find(area).flatMap((index) => this.items[index] ?? []);
    const symbols = near.filter((item) => !item.isLine).sort((a, b) => areaOf(a.box) - areaOf(b.box));
    return (
      symbols.find((item) => this.isInside(item, x, y) || this.isOnOutline(item, x, y, tolerance / 2)) ??
      near.find((item) => item.isLine && this.isOnOutline(item, x, y, tolerance)) ??
      symbols.find(
        (item) => distanceTo(item.box, x, y) <= tolerance && areaOf(item.box) < 40 * tolerance ** 2,
      ) ??
      null
    );
  }

  private isInside(item: PictureItem, x: number, y: number): boolean {
    return this.context?.isPointInPath(this.pathOf(item), x, y) ?? false;
  }

  private isOnOutline(item: PictureItem, x: number, y: number, tolerance: number): boolean {
    if (this.context === null) return false;
    this.context.lineWidth = 2 * tolerance;
    return this.context.isPointInStroke(this.pathOf(item), x, y);
  }

  private pathOf(item: PictureItem): Path2D {
    let path = this.paths.get(item);
    if (path === undefined) {
      path = new Path2D();
      for (const shape of item.shapes) {
        path.addPath(new Path2D(shape.data), new DOMMatrix([...shape.matrix]));
      }
      this.paths.set(item, path);
    }
    return path;
  }
}

function areaOf({ width, height }: Box): number {
  return width * height;
}
