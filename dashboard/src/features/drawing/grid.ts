/** A grid over boxes, to find those near a place without looking at all. */
import { type Box, touches } from "./geometry";

export class Grid {
  private readonly cells = new Map<number, number[]>();
  private readonly size: number;

  /** About two boxes per cell, however large the drawing is. */
  constructor(
    private readonly boxes: readonly Box[],
    private readonly extent: Box,
  ) {
    const area = Math.max(extent.width, 1) * Math.max(extent.height, 1);
    this.size = Math.max(Math.sqrt((2 * area) / Math.max(boxes.length, 1)), 1e-6);
    boxes.forEach((box, index) => {
      for (const key of this.keys(box)) {
        const cell = this.cells.get(key);
        if (cell) cell.push(index);
        else this.cells.set(key, [index]);
      }
    });
  }

  /** The indexes of the boxes that touch an area, in ascending order. */
  find(area: Box): number[] {
    const found = new Set<number>();
    for (const key of this.keys(area)) {
      for (const index of this.cells.get(key) ?? []) {
        const box = this.boxes[index];
        if (box && touches(box, area)) found.add(index);
      }
    }
    return [...found].sort((a, b) => a - b);
  }

  /** Boxes outside of the extent belong to the cells at its edge. */
  private *keys({ x, y, width, height }: Box): Generator<number> {
    const columns = Math.ceil(this.extent.width / this.size) + 1;
    const rows = Math.ceil(this.extent.height / this.size) + 1;
    const column = (value: number) => clamp(Math.floor((value - this.extent.x) / this.size), columns);
    const row = (value: number) => clamp(Math.floor((value - this.extent.y) / this.size), rows);
    for (let j = row(y); j <= row(y + height); j++) {
      for (let i = column(x); i <= column(x + width); i++) yield j * columns + i;
    }
  }
}

function clamp(value: number, count: number): number {
  return Math.min(Math.max(value, 0), count - 1);
}
