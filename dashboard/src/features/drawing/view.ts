/**
 * A drawing in a shadow root, with pan and zoom.
 *
 * While the view moves, what was drawn last (twice as wide and high as the window) is moved and scaled as a picture; it is
 * drawn again in full sharpness when the movement ends or leaves it.
 */
import { select } from "d3-selection";
import { type ZoomBehavior, zoom, zoomIdentity } from "d3-zoom";
import { type Box, fitBox, parseViewBox, relativeTransform, type Transform, visibleBox } from "./geometry";
import type { Marks } from "./marks";
import { drawingSheet } from "./theme";

const SVG = "http://www.w3.org/2000/svg";
const IDLE_MS = 220;
const NEAR = [0, 4, -4, 8, -8];

export class DrawingView {
  readonly extent: Box;
  private readonly root: ShadowRoot;
  private readonly zoom: ZoomBehavior<HTMLElement, unknown>;
  private readonly items = new Map<string, SVGGraphicsElement>();
  private readonly marksLayer = document.createElementNS(SVG, "g");
  private readonly resize: ResizeObserver;
  private now: Transform = { x: 0, y: 0, k: 1 };
  private drawn: Transform = { x: 0, y: 0, k: 1 };
  private idle = 0;
  private frame = 0;
  private isPlaced = false;

  constructor(
    private readonly host: HTMLElement,
    private readonly svg: SVGSVGElement,
    private readonly onMove: (visible: Box) => void,
  ) {
    this.extent = parseViewBox(svg.getAttribute("viewBox"));
    this.root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.root.adoptedStyleSheets = [drawingSheet()];
    this.root.replaceChildren(svg);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    for (const item of svg.querySelectorAll<SVGGraphicsElement>("[data-id]")) {
      this.items.set(item.dataset.id ?? "", item);
    }
    (svg.querySelector("#lines") ?? svg.firstElementChild)?.before(this.marksLayer);
    this.zoom = zoom<HTMLElement, unknown>()
      .scaleExtent([0.01, 16])
      .on("zoom", ({ transform }) => this.moved(transform));
    select(host).call(this.zoom).on("dblclick.zoom", null);
    this.resize = new ResizeObserver(() => (this.isPlaced ? this.draw() : this.fit()));
    this.resize.observe(host);
  }

  destroy(): void {
    this.resize.disconnect();
    select(this.host).on(".zoom", null);
    clearTimeout(this.idle);
    cancelAnimationFrame(this.frame);
    this.root.replaceChildren();
  }

  fit(): void {
    this.show(this.extent);
    this.isPlaced = this.host.clientWidth > 0;
  }

  zoomBy(factor: number): void {
    select(this.host).call(this.zoom.scaleBy, factor);
  }

  panBy(x: number, y: number): void {
    select(this.host).call(this.zoom.translateBy, x / this.now.k, y / this.now.k);
  }

  centerAt(x: number, y: number): void {
    select(this.host).call(this.zoom.translateTo, x, y);
  }

  /** Brings an item into view, close enough to read its tag. */
  reveal(id: string): void {
    const box = this.boxOf(id);
    if (box === null) return;
    const k = Math.max(this.now.k, 1.1);
    const { clientWidth, clientHeight } = this.host;
    const x = clientWidth / 2 - k * (box.x + box.width / 2);
    const y = clientHeight / 2 - k * (box.y + box.height / 2);
    this.isPlaced = true;
    this.apply({ x, y, k });
  }

  has(id: string): boolean {
    return this.items.has(id);
  }

  /** The item at a point of the window, or one a few pixels away: pipes are thin. */
  itemAt(clientX: number, clientY: number): string | null {
    for (const dx of NEAR) {
      for (const dy of NEAR) {
        const hit = this.root.elementFromPoint(clientX + dx, clientY + dy)?.closest<SVGElement>("[data-id]");
        if (hit) return hit.dataset.id ?? null;
      }
    }
    return null;
  }

  /** Positions of all items that are no pipes, for an overview. */
  positions(): { x: number; y: number }[] {
    const points: { x: number; y: number }[] = [];
    for (const item of this.items.values()) {
      const place = /translate\((-?[\d.]+)[ ,]+(-?[\d.]+)/.exec(item.getAttribute("transform") ?? "");
      if (place) points.push({ x: Number(place[1]), y: Number(place[2]) });
    }
    return points;
  }

  mark(marks: Marks, selected: string | null): void {
    const shapes: SVGElement[] = [];
    for (const [id, tone] of marks) this.addMark(shapes, id, tone);
    if (selected !== null) this.addMark(shapes, selected, "selected");
    this.marksLayer.replaceChildren(...shapes);
  }

  private addMark(shapes: SVGElement[], id: string, tone: string): void {
    const item = this.items.get(id);
    if (item) shapes.push(item.localName === "path" ? pathMark(item, tone) : boxMark(item, tone));
  }

  private boxOf(id: string): Box | null {
    const item = this.items.get(id);
    const matrix = item?.getCTM();
    const root = this.svg.getCTM();
    if (!item || !matrix || !root) return null;
    const box = item.getBBox();
    const toDrawing = root.inverse().multiply(matrix);
    const middle = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2).matrixTransform(toDrawing);
    return {
      x: middle.x - box.width / 2,
      y: middle.y - box.height / 2,
      width: box.width,
      height: box.height,
    };
  }

  private show(box: Box): void {
    this.apply(fitBox(box, this.host.clientWidth, this.host.clientHeight));
  }

  private apply({ x, y, k }: Transform): void {
    select(this.host).call(this.zoom.transform, zoomIdentity.translate(x, y).scale(k));
  }

  private moved({ x, y, k }: Transform): void {
    this.now = { x, y, k };
    clearTimeout(this.idle);
    this.idle = window.setTimeout(() => this.draw(), IDLE_MS);
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.move());
  }

  private move(): void {
    this.frame = 0;
    const { clientWidth: width, clientHeight: height } = this.host;
    const { x, y, k } = relativeTransform(this.drawn, this.now);
    // The picture starts half a window to the left of and above the window.
    const left = x + (width / 2) * (1 - k);
    const top = y + (height / 2) * (1 - k);
    const isCovered = covers(left - width / 2, k, width) && covers(top - height / 2, k, height);
    if (k > 3 || !isCovered) {
      this.draw();
      return;
    }
    this.svg.style.transform = `translate(${left}px, ${top}px) scale(${k})`;
    this.onMove(visibleBox(this.now, width, height));
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width === 0 || height === 0) return;
    const visible = visibleBox(this.now, width, height);
    const left = visible.x - visible.width / 2;
    const top = visible.y - visible.height / 2;
    this.svg.setAttribute("viewBox", `${left} ${top} ${visible.width * 2} ${visible.height * 2}`);
    this.svg.style.transform = "";
    this.drawn = this.now;
    this.onMove(visible);
  }
}

/** Returns whether the picture, which starts at `start` and is twice the window's size times `k`, covers the window. */
function covers(start: number, k: number, size: number): boolean {
  return start <= 0 && start + 2 * size * k >= size;
}

function pathMark(item: SVGGraphicsElement, tone: string): SVGElement {
  const mark = document.createElementNS(SVG, "path");
  mark.setAttribute("d", item.getAttribute("d") ?? "");
  mark.setAttribute("class", `mark ${tone}`);
  return mark;
}

function boxMark(item: SVGGraphicsElement, tone: string): SVGElement {
  const margin = tone === "selected" ? 8 : 5;
  const box = item.getBBox();
  const mark = document.createElementNS(SVG, "rect");
  mark.setAttribute("x", String(box.x - margin));
  mark.setAttribute("y", String(box.y - margin));
  mark.setAttribute("width", String(box.width + 2 * margin));
  mark.setAttribute("height", String(box.height + 2 * margin));
  mark.setAttribute("rx", "4");
  mark.setAttribute("transform", item.getAttribute("transform") ?? "");
  mark.setAttribute("class", `mark ${tone}`);
  return mark;
}
