/** Lays the picture of one version on that of another: automatic layouts differ in origin and scale. */
import { IDENTITY, type Matrix } from "./matrix";
import type { PictureItem } from "./picture";

type Items = ReadonlyMap<string, PictureItem>;

/** Takes medians over the common items, so that moved items do not count. */
export function alignment(old: Items, now: Items): Matrix {
  const common = [...old.values()].filter((item) => !item.isLine && now.has(item.id));
  if (common.length === 0) return IDENTITY;
  const before = common.map(middleOf);
  const after = common.map((item) => middleOf(now.get(item.id) ?? item));
  const scale = scaleFrom(before, after);
  const shift = (axis: 0 | 1) =>
    median(after.map((point, index) => point[axis] - scale * (before[index]?.[axis] ?? 0)));
  return [scale, 0, 0, scale, shift(0), shift(1)];
}

function middleOf({ box }: PictureItem): [x: number, y: number] {
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** The median ratio of the distances of neighbors in the list. A ratio that is almost one is one. */
function scaleFrom(before: [number, number][], after: [number, number][]): number {
  const ratios: number[] = [];
  for (let index = 1; index < before.length; index++) {
    const old = distance(before, index);
    if (old > 0) ratios.push(distance(after, index) / old);
  }
  const scale = median(ratios);
  return scale <= 0 || Math.abs(scale - 1) < 0.02 ? 1 : scale;
}

function distance(points: [number, number][], index: number): number {
  const [x1 = 0, y1 = 0] = points[index - 1] ?? [];
  const [x2 = 0, y2 = 0] = points[index] ?? [];
  return Math.hypot(x2 - x1, y2 - y1);
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
