/** Positions of the characters of a text item on the page. */
import type { PageViewport } from "pdfjs-dist";
import type { TextItem } from "pdfjs-dist/types/src/display/api";
import type { Box } from "../../../features/documents/wordBoxes";
import type { ItemRange } from "./passages";

/** Parts of the font size below and above the base line. */
const DESCENT = 0.22;
const ASCENT = 0.88;

type Viewport = Pick<PageViewport, "convertToViewportPoint">;

/** The box of a part of an item, in pixels of the viewport; rotated text has the box around it. */
export function itemBox(item: TextItem, range: ItemRange, viewport: Viewport): Box {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = item.transform as number[];
  const along = Math.hypot(a, b) || 1;
  const size = Math.hypot(c, d) || item.height;
  const length = Math.max([...item.str].length, 1);
  const corners = [range.from, range.to].flatMap((character) =>
    [-DESCENT, ASCENT].map((rise) => {
      const shift = (item.width * character) / length;
      const x = e + (a / along) * shift + (c / (size || 1)) * size * rise;
      const y = f + (b / along) * shift + (d / (size || 1)) * size * rise;
      return viewport.convertToViewportPoint(x, y) as [number, number];
    }),
  );
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  const left = Math.min(...xs);
  const top = Math.min(...ys);
  return { left, top, width: Math.max(...xs) - left, height: Math.max(...ys) - top };
}

/** The index of the item at a point of the viewport; null if there is none. */
export function itemAt(items: TextItem[], x: number, y: number, viewport: Viewport): number | null {
  const index = items.findIndex((item, index) => {
    const box = itemBox(item, { item: index, from: 0, to: [...item.str].length }, viewport);
    return x >= box.left && x <= box.left + box.width && y >= box.top && y <= box.top + box.height;
  });
  return index < 0 ? null : index;
}
