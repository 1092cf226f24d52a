/**
 * A drawing on a canvas, with pan and zoom.
 *
 * The drawing is painted as tiles in the scale at rest. While the view moves, painted tiles are moved and scaled; when it
 * rests, those of the new scale replace them as they are ready, so that nothing flickers.
 */
import { select } from "d3-selection";
import { type ZoomBehavior, zoom, zoomIdentity } from "d3-zoom";
import { type Box, contains, distanceTo, fitBox, type Transform, unionOf, visibleBox } from "./geometry";
import { HitTest } from "./hitTest";
import { type Connection, MarkLayer } from "./markLayer";
import { type Marks, NO_MARKS } from "./marks";
import { onThemeChange, type Palette, paletteOf } from "./palette";
import type { Picture, PictureItem } from "./picture";
import { TilePainter } from "./tilePainter";

/** The view rests when it has not moved for this long. */
const IDLE_MS = 140;
/** Time per frame for painting tiles: while moving, at rest, and before anything is shown. */
const BUDGET_MS = { moving: 5, rest: 12, start: 60 };
/** An item that is revealed is at least as large as this scale shows it. */
const READABLE = 1.1;
/** Pixels around the marked items that are revealed, for the legend and the buttons. */
const MARGIN = 64;
/** Pixels around the pointer in which an item is found. */
const NEAR = 8;

export class DrawingView {
  private readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d", { alpha: false });
  private readonly zoom: ZoomBehavior<HTMLElement, unknown>;
  private readonly resize: ResizeObserver;
  private readonly stopTheme: () => void;
  private readonly listeners = new Set<() => void>();
  private readonly marks: MarkLayer;
  private marked: { marks: Marks; selected: string | null } = { marks: NO_MARKS, selected: null };
  private ghosts: ReadonlyMap<string, PictureItem> = new Map();
  private palette: Palette;
  private hits: HitTest;
  private tiles: TilePainter;
  private now: Transform = { x: 0, y: 0, k: 1 };
  private isPlaced = false;
  private isMoving = false;
  private isStarted = false;
  private idle = 0;
  private frame = 0;

  constructor(
    private readonly host: HTMLElement,
    private picture: Picture,
  ) {
    this.canvas.setAttribute("aria-hidden", "true");
    // Its size is that of the host, once that is known.
    this.canvas.width = 0;
    host.replaceChildren(this.canvas);
    this.palette = paletteOf(host);
    this.marks = new MarkLayer(this.palette);
    this.hits = new HitTest(picture);
    this.tiles = this.newTiles();
    this.zoom = zoom<HTMLElement, unknown>().on("zoom", ({ transform }) => this.moved(transform));
    select(host).call(this.zoom).on("dblclick.zoom", null);
    this.resize = new ResizeObserver(() => this.resized());
    this.resize.observe(host);
    this.stopTheme = onThemeChange(() => this.repaint());
    if (document.fonts.status === "loading") document.fonts.ready.then(() => this.repaint());
  }

  destroy(): void {
    this.resize.disconnect();
    this.stopTheme();
    select(this.host).on(".zoom", null);
    clearTimeout(this.idle);
    cancelAnimationFrame(this.frame);
    this.tiles.close();
    this.host.replaceChildren();
  }

  get extent(): Box {
    return this.picture.extent;
  }

  get visible(): Box {
    return visibleBox(this.now, this.host.clientWidth, this.host.clientHeight);
  }

  /** Returns whether the view is at rest and the whole drawing is painted. */
  get isPainted(): boolean {
    return this.host.dataset.painted === "all";
  }

  /** Calls back in each frame that shows something new; returns how to stop. */
  onFrame(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Shows another picture at the same place. */
  setPicture(picture: Picture): void {
    if (picture === this.picture) return;
    const isSimilar = isAtSamePlace(picture.extent, this.picture.extent);
    this.picture = picture;
    this.hits = new HitTest(picture);
    this.tiles.close();
    this.tiles = this.newTiles();
    this.tiles.setScale(this.now.k);
    this.setMarks(this.marked.marks, this.marked.selected);
    if (isSimilar) this.schedule();
    else this.fit();
  }

  setMarks(marks: Marks, selected: string | null): void {
    this.marked = { marks, selected };
    const item =
      selected === null ? undefined : (this.picture.items.get(selected) ?? this.ghosts.get(selected));
    this.marks.setMarks(this.picture.items, marks, item ?? null);
    this.schedule();
  }

  /** Shows items of an older version, and which connectors continue each other. */
  setOverlays(ghosts: ReadonlyMap<string, PictureItem>, connections: Connection[]): void {
    this.ghosts = ghosts;
    this.marks.setGhosts(ghosts);
    this.marks.connections = connections;
    this.setMarks(this.marked.marks, this.marked.selected);
  }

  fit(): void {
    this.show(this.extent);
    this.isPlaced = this.host.clientWidth > 0;
    this.settle();
  }

  /** Brings a box into view with room around it. */
  show(box: Box): void {
    this.apply(fitBox(box, this.host.clientWidth, this.host.clientHeight));
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

  /** Brings a place into view, close enough to read its tag. */
  reveal(box: Box): void {
    const k = Math.max(this.now.k, READABLE);
    const { clientWidth, clientHeight } = this.host;
    const x = clientWidth / 2 - k * (box.x + box.width / 2);
    const y = clientHeight / 2 - k * (box.y + box.height / 2);
    this.isPlaced = clientWidth > 0;
    this.apply({ x, y, k });
    this.settle();
  }

  revealItem(id: string): void {
    const item = this.picture.items.get(id) ?? this.ghosts.get(id);
    if (item) this.reveal(item.box);
  }

  /** Shows all marked items, unless they are in view already. */
  revealMarks(): void {
    const boxes = [...this.marked.marks.keys()].flatMap((id) => this.picture.items.get(id)?.box ?? []);
    const all = unionOf(boxes);
    if (all === null || contains(this.visible, all)) return;
    const { clientWidth, clientHeight } = this.host;
    this.isPlaced = clientWidth > 0;
    this.apply(fitBox(all, clientWidth, clientHeight, MARGIN, Math.max(this.now.k, READABLE)));
    this.settle();
  }

  /** The item at a point of the window, or one a few pixels away. */
  itemAt(clientX: number, clientY: number): string | null {
    const { left, top } = this.host.getBoundingClientRect();
    const { x, y, k } = this.now;
    const [pointX, pointY] = [(clientX - left - x) / k, (clientY - top - y) / k];
    const item = this.hits.itemAt(pointX, pointY, NEAR / k);
    if (item) return item.id;
    for (const ghost of this.ghosts.values()) {
      if (!ghost.isLine && distanceTo(ghost.box, pointX, pointY) <= NEAR / k) return ghost.id;
    }
    return null;
  }

  /** Paints the whole drawing on a small canvas. */
  drawOverview(canvas: HTMLCanvasElement): void {
    const ratio = canvas.width / canvas.clientWidth;
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null || !Number.isFinite(ratio)) return;
    context.fillStyle = this.palette.colors.surface;
    context.fillRect(0, 0, canvas.width, canvas.height);
    const place = fitBox(this.extent, canvas.clientWidth, canvas.clientHeight, 0);
    this.tiles.drawWhole(context, place, ratio);
  }

  private newTiles(): TilePainter {
    const { clientWidth, clientHeight } = this.host;
    const fitScale = fitBox(this.extent, clientWidth || 1000, clientHeight || 700).k;
    this.zoom?.scaleExtent([fitScale / 4, 16]);
    return new TilePainter(this.picture, this.palette, devicePixelRatio, fitScale);
  }

  private resized(): void {
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === 0 || clientHeight === 0) return;
    const { width, height } = this.canvas;
    this.canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.canvas.height = Math.round(clientHeight * devicePixelRatio);
    if (this.isPlaced && width > 0) {
      // What was in the middle stays there.
      const { x, y, k } = this.now;
      const moveX = (this.canvas.width - width) / devicePixelRatio / 2;
      const moveY = (this.canvas.height - height) / devicePixelRatio / 2;
      this.apply({ x: x + moveX, y: y + moveY, k });
    }
    if (!this.isPlaced) {
      this.tiles.close();
      this.tiles = this.newTiles();
      this.fit();
    }
    // The canvas is empty now: the next paint must show the drawing already.
    this.step();
  }

  private repaint(): void {
    this.palette = paletteOf(this.host);
    this.marks.setPalette(this.palette);
    this.tiles.setPalette(this.palette);
    // Paper shows what is painted now, not in the next frames.
    if (matchMedia("print").matches) this.paintAtOnce();
    else this.schedule();
  }

  private paintAtOnce(): void {
    if (this.context === null || !this.isPlaced) return;
    const { width, height } = this.canvas;
    const [shownWidth, shownHeight] = [width / devicePixelRatio, height / devicePixelRatio];
    this.isMoving = false;
    this.tiles.setScale(this.now.k);
    this.tiles.work(visibleBox(this.now, shownWidth, shownHeight), Number.POSITIVE_INFINITY, false);
    this.draw(this.context, shownWidth, shownHeight);
  }

  private apply({ x, y, k }: Transform): void {
    select(this.host).call(this.zoom.transform, zoomIdentity.translate(x, y).scale(k));
  }

  private moved({ x, y, k }: Transform): void {
    this.now = { x, y, k };
    this.isMoving = true;
    clearTimeout(this.idle);
    this.idle = window.setTimeout(() => this.settle(), IDLE_MS);
    this.schedule();
  }

  private settle(): void {
    clearTimeout(this.idle);
    this.isMoving = false;
    this.tiles.setScale(this.now.k);
    this.schedule();
  }

  private schedule(): void {
    this.host.removeAttribute("data-painted");
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.step());
  }

  private step(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { clientWidth: width, clientHeight: height } = this.host;
    if (this.context === null || width === 0 || !this.isPlaced) return;
    const budget = this.isStarted ? (this.isMoving ? BUDGET_MS.moving : BUDGET_MS.rest) : BUDGET_MS.start;
    const isZooming = this.isMoving && this.now.k !== this.tiles.currentScale;
    const isPainted = isZooming || this.tiles.work(this.visible, budget, this.isMoving);
    this.draw(this.context, width, height);
    const isShown = this.tiles.isComplete(this.visible);
    this.isStarted ||= isShown;
    if (!isPainted) this.schedule();
    if (isShown && !this.isMoving) this.host.dataset.painted = isPainted ? "all" : "view";
    for (const listener of this.listeners) listener();
  }

  private draw(context: CanvasRenderingContext2D, width: number, height: number): void {
    const ratio = devicePixelRatio;
    context.fillStyle = this.palette.colors.surface;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.tiles.draw(context, this.now, width, height);
    const { x, y, k } = this.now;
    this.marks.paint(context, { k: k * ratio, x: Math.round(x * ratio), y: Math.round(y * ratio) });
  }
}

function isAtSamePlace(a: Box, b: Box): boolean {
  const near = (one: number, other: number) => Math.abs(one - other) < Math.max(a.width, b.width) / 2;
  return near(a.x, b.x) && near(a.y, b.y) && near(a.width, b.width) && near(a.height, b.height);
}
