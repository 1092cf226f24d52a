/** Tiles: squares of a drawing, painted once at a scale and then moved. */
import type { Box, Transform } from "./geometry";

/** Width and height of a tile on the screen, in CSS pixels. */
export const TILE = 256;

export interface Tile {
  scale: number;
  column: number;
  row: number;
}

export function tileKey({ scale, column, row }: Tile): string {
  return `${scale}:${column}:${row}`;
}

/** The part of the drawing that a tile shows. */
export function tileBox({ scale, column, row }: Tile): Box {
  const size = TILE / scale;
  return { x: column * size, y: row * size, width: size, height: size };
}

/** The tiles of a scale that show a part of the drawing, those in its middle first. */
export function tilesOver(area: Box, scale: number, extent: Box): Tile[] {
  const size = TILE / scale;
  const left = Math.max(area.x, extent.x);
  const top = Math.max(area.y, extent.y);
  const right = Math.min(area.x + area.width, extent.x + extent.width);
  const bottom = Math.min(area.y + area.height, extent.y + extent.height);
  const middle = { column: (left + right) / 2 / size - 0.5, row: (top + bottom) / 2 / size - 0.5 };
  const tiles: (Tile & { distance: number })[] = [];
  for (let row = Math.floor(top / size); row * size < bottom; row++) {
    for (let column = Math.floor(left / size); column * size < right; column++) {
      const distance = Math.hypot(column - middle.column, row - middle.row);
      tiles.push({ scale, column, row, distance });
    }
  }
  tiles.sort((a, b) => a.distance - b.distance);
  return tiles.map(({ scale, column, row }) => ({ scale, column, row }));
}

/** The place of a tile in the window, with edges on whole device pixels so that neighbors leave no gap. */
export function tilePlace(tile: Tile, view: Transform, ratio: number): Box {
  const { x, y, width, height } = tileBox(tile);
  const left = Math.round((x * view.k + view.x) * ratio);
  const top = Math.round((y * view.k + view.y) * ratio);
  const right = Math.round(((x + width) * view.k + view.x) * ratio);
  const bottom = Math.round(((y + height) * view.k + view.y) * ratio);
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Painted tiles; those not used for the longest time make room, except those of one scale. */
export class TileStore<Picture extends { close(): void }> {
  private readonly tiles = new Map<string, { tile: Tile; picture: Picture }>();
  /** The scale whose tiles stay: they show the whole drawing. */
  keptScale = 0;

  constructor(public capacity: number) {}

  get(tile: Tile): Picture | undefined {
    const key = tileKey(tile);
    const entry = this.tiles.get(key);
    if (entry === undefined) return undefined;
    this.tiles.delete(key);
    this.tiles.set(key, entry);
    return entry.picture;
  }

  has(tile: Tile): boolean {
    return this.tiles.has(tileKey(tile));
  }

  set(tile: Tile, picture: Picture): void {
    this.tiles.set(tileKey(tile), { tile, picture });
    for (const [key, entry] of this.tiles) {
      if (this.tiles.size <= this.capacity) return;
      if (entry.tile.scale === this.keptScale) continue;
      entry.picture.close();
      this.tiles.delete(key);
    }
  }

  clear(): void {
    for (const { picture } of this.tiles.values()) picture.close();
    this.tiles.clear();
  }

  get size(): number {
    return this.tiles.size;
  }
}
