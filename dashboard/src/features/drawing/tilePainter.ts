/** Paints tiles of a picture, a few at a time, and puts them on the canvas of the view. */
import { type Box, type Transform, visibleBox } from "./geometry";
import { Grid } from "./grid";
import { type Canvas2D, Painter } from "./paint";
import type { Palette } from "./palette";
import type { Picture } from "./picture";
import { TILE, type Tile, TileStore, tileBox, tilePlace, tilesOver } from "./tiles";

/** Strokes and texts reach this far beyond the boxes of their shapes. */
const MARGIN = 4;
/** Number of tiles that are kept, at one device pixel per CSS pixel: about 60 MB. */
const CAPACITY = 240;
const LEAST_CAPACITY = 40;
/** Tiles of a much larger scale would be too many for one frame. */
const MOST_REDUCED = 3;

export class TilePainter {
  private readonly store: TileStore<ImageBitmap>;
  private readonly grid: Grid;
  private readonly canvas = new OffscreenCanvas(1, 1);
  private painter: Painter;
  /** The scale that is painted, and the one before, which is shown until then. */
  private scale = 0;
  private previous = 0;

  constructor(
    private readonly picture: Picture,
    private palette: Palette,
    private readonly ratio: number,
    fitScale: number,
  ) {
    this.painter = new Painter(palette);
    this.grid = new Grid(
      picture.shapes.map((shape) => shape.box),
      picture.extent,
    );
    this.store = new TileStore(Math.max(CAPACITY / ratio ** 2, LEAST_CAPACITY));
    this.store.keptScale = fitScale;
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.painter = new Painter(palette);
    this.store.clear();
  }

  /** The scale in which the whole drawing stays painted. */
  get fitScale(): number {
    return this.store.keptScale;
  }

  get currentScale(): number {
    return this.scale;
  }

  close(): void {
    this.store.clear();
  }

  setScale(scale: number): void {
    if (scale === this.scale) return;
    this.previous = this.scale;
    this.scale = scale;
  }

  /** Paints missing tiles until the time is up, first those in view; returns whether all are painted. */
  work(visible: Box, milliseconds: number, isMoving: boolean): boolean {
    const end = performance.now() + milliseconds;
    const missing = isMoving ? this.missing(visible, this.scale) : this.missingAtRest(visible);
    for (const tile of missing) {
      this.store.set(tile, this.painted(tile));
      if (performance.now() >= end) return false;
    }
    return true;
  }

  isComplete(visible: Box): boolean {
    return this.missing(visible, this.scale).length === 0;
  }

  /** Puts what there is on a canvas in device pixels: coarse tiles first, sharp ones over them. */
  draw(context: Canvas2D, view: Transform, width: number, height: number): void {
    const visible = visibleBox(view, width, height);
    const scales = this.isComplete(visible) ? [this.scale] : [this.fitScale, this.previous, this.scale];
    for (const scale of scales) {
      if (scale === 0 || scale > view.k * MOST_REDUCED) continue;
      for (const tile of tilesOver(visible, scale, this.picture.extent)) {
        const bitmap = this.store.get(tile);
        if (bitmap === undefined) continue;
        const { x, y, width, height } = tilePlace(tile, view, this.ratio);
        context.drawImage(bitmap, x, y, width, height);
      }
    }
  }

  /** Draws the whole drawing from the tiles that stay. */
  drawWhole(context: Canvas2D, view: Transform, ratio: number): void {
    for (const tile of tilesOver(this.picture.extent, this.fitScale, this.picture.extent)) {
      const bitmap = this.store.get(tile);
      if (bitmap === undefined) continue;
      const { x, y, width, height } = tilePlace(tile, view, ratio);
      context.drawImage(bitmap, x, y, width, height);
    }
  }

  /** The tiles in view, those of the whole drawing, and as many around the view as there is room for. */
  private missingAtRest(visible: Box): Tile[] {
    const { extent } = this.picture;
    const whole = tilesOver(extent, this.fitScale, extent);
    const inView = tilesOver(visible, this.scale, extent);
    const room = Math.max(this.store.capacity, whole.length + 2 * inView.length);
    this.store.capacity = room;
    const around = {
      x: visible.x - visible.width / 2,
      y: visible.y - visible.height / 2,
      width: 2 * visible.width,
      height: 2 * visible.height,
    };
    const near = tilesOver(around, this.scale, extent).slice(0, room - whole.length);
    return [...inView, ...whole, ...near].filter((tile) => !this.store.has(tile));
  }

  private missing(area: Box, scale: number): Tile[] {
    return tilesOver(area, scale, this.picture.extent).filter((tile) => !this.store.has(tile));
  }

  private painted(tile: Tile): ImageBitmap {
    const size = Math.round(TILE * this.ratio);
    if (this.canvas.width !== size) {
      this.canvas.width = size;
      this.canvas.height = size;
    }
    const context = this.canvas.getContext("2d", { alpha: false });
    if (context === null) throw new Error("The browser has no canvas");
    context.fillStyle = this.palette.colors.surface;
    context.fillRect(0, 0, size, size);
    const { x, y, width, height } = tileBox(tile);
    const area = { x: x - MARGIN, y: y - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN };
    const shapes = this.grid.find(area).flatMap((index) => this.picture.shapes[index] ?? []);
    const k = tile.scale * this.ratio;
    this.painter.paint(context, shapes, { k, x: -x * k, y: -y * k });
    return this.canvas.transferToImageBitmap();
  }
}
