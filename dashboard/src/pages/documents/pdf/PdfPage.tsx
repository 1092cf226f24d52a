/** A page of a PDF: canvas, selectable text, and the marks of the passage. */
import type { PageViewport, PDFPageProxy } from "pdfjs-dist";
import type { TextContent, TextItem } from "pdfjs-dist/types/src/display/api";
import { type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Chunk, PageWords } from "../../../features/documents/queries";
import { scrollWithin } from "../../../features/documents/scroll";
import { type TextRange, wordBoxes } from "../../../features/documents/wordBoxes";
import { itemAt, itemBox } from "./geometry";
import type { OpenedPdf } from "./openPdf";
import { pageText, passageOfItem, passageRanges } from "./passages";

interface PdfPageProps {
  pdf: OpenedPdf;
  number: number;
  /** Width in pixels. */
  width: number;
  /** Height by width of the first page: the size of a page before it is loaded. */
  ratio: number;
  /** Text to mark, which may start or end on another page. */
  passage: string | null;
  /** Part of the passage to mark more clearly. */
  exact: string | null;
  /** Words of the passage with their boxes; without them, the passage is searched for in the text of the page. */
  words: PageWords | null;
  /** Range of `exact` in the text of the document. */
  exactRange: TextRange | null;
  chunks: Chunk[];
  isFirstOfPassage: boolean;
  onSelect: (index: number) => void;
}

interface LoadedPage {
  page: PDFPageProxy;
  viewport: PageViewport;
  content: TextContent;
}

export function PdfPage(props: PdfPageProps) {
  const { pdf, number, width, ratio, passage, exact, words, exactRange, isFirstOfPassage } = props;
  const frameRef = useRef<HTMLDivElement>(null);
  const isNear = useIsNear(frameRef);
  const loaded = useLoadedPage(pdf, number, width, isNear || passage !== null);
  const items = useMemo(() => textItems(loaded?.content), [loaded]);
  const boxes = useMemo(
    () => (loaded && words ? wordBoxes(words, null, width) : passageBoxes(loaded, items, passage)),
    [loaded, items, passage, words, width],
  );
  const exactBoxes = useMemo(
    () =>
      loaded && words
        ? exactRange
          ? wordBoxes(words, exactRange, width)
          : []
        : passageBoxes(loaded, items, exact),
    [loaded, items, exact, words, exactRange, width],
  );
  const shown = passage === null ? [] : exactBoxes;

  // The passage may start far down its first page, and its exact part may be on a later one.
  const target = exact === null ? (isFirstOfPassage ? boxes[0] : undefined) : shown[0];
  useEffect(() => {
    if (!target) return;
    const page = frameRef.current;
    const mark = page?.querySelector("[data-exact]") ?? page?.querySelector("[data-mark]");
    scrollWithin(page?.parentElement ?? null, mark, "center");
  }, [target]);

  const height = loaded ? loaded.viewport.height : width * ratio;
  const select = (event: MouseEvent) => {
    if (!loaded || !frameRef.current || window.getSelection()?.isCollapsed === false) return;
    const frame = frameRef.current.getBoundingClientRect();
    const item = itemAt(items, event.clientX - frame.left, event.clientY - frame.top, loaded.viewport);
    const near = props.chunks.filter((chunk) => chunk.page !== null && chunk.page <= number);
    const candidates = near.slice(-40);
    const texts = items.map((item) => item.str);
    const found =
      item === null
        ? null
        : passageOfItem(
            texts,
            item,
            candidates.map((chunk) => chunk.text),
          );
    const chunk = found === null ? undefined : candidates[found];
    if (chunk) props.onSelect(chunk.index);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the pointer; the list of chunks does the same by keyboard
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div
      ref={frameRef}
      className="pdf-page"
      data-page={number}
      style={{ width, height, "--total-scale-factor": loaded?.viewport.scale ?? 1 } as React.CSSProperties}
      onClick={select}
    >
      {loaded && <PageCanvas loaded={loaded} number={number} />}
      {boxes.map((box) => (
        <span key={`${box.left} ${box.top}`} className="page-mark" data-mark style={box} />
      ))}
      {shown.map((box) => (
        <span key={`exact ${box.left} ${box.top}`} className="page-mark" data-mark data-exact style={box} />
      ))}
      {loaded && <PageText pdf={pdf} loaded={loaded} />}
    </div>
  );
}

function PageCanvas({ loaded, number }: { loaded: LoadedPage; number: number }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = ref.current;
    if (!canvas) return;
    const { page, viewport } = loaded;
    const density = Math.min(window.devicePixelRatio, 2);
    canvas.width = Math.floor(viewport.width * density);
    canvas.height = Math.floor(viewport.height * density);
    const task = page.render({ canvas, viewport, transform: [density, 0, 0, density, 0, 0] });
    task.promise.catch(() => {
      // A page that leaves the view is cancelled.
    });
    return () => task.cancel();
  }, [loaded]);
  return <canvas ref={ref} className="pdf-canvas" role="img" aria-label={`Page ${number}`} />;
}

function PageText({ pdf, loaded }: { pdf: OpenedPdf; loaded: LoadedPage }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // PDF.js goes on filling an element that is no longer needed: each text has its own.
    const container = document.createElement("div");
    container.className = "pdf-text";
    ref.current?.append(container);
    const { viewport, content } = loaded;
    new pdf.pdfjs.TextLayer({ textContentSource: content, container, viewport }).render().catch(() => {
      // Without this text, the page can be read but not selected.
    });
    return () => container.remove();
  }, [pdf, loaded]);
  return <div ref={ref} />;
}

function useLoadedPage(pdf: OpenedPdf, number: number, width: number, isWanted: boolean): LoadedPage | null {
  const [loaded, setLoaded] = useState<LoadedPage | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    let isCurrent = true;
    const load = async () => {
      const page = await pdf.document.getPage(number);
      const viewport = page.getViewport({ scale: width / page.getViewport({ scale: 1 }).width });
      const content = await page.getTextContent();
      if (isCurrent) setLoaded({ page, viewport, content });
    };
    load().catch(() => {
      // The document was closed.
    });
    return () => {
      isCurrent = false;
    };
  }, [pdf, number, width, isWanted]);
  return isWanted ? loaded : null;
}

function textItems(content: TextContent | undefined): TextItem[] {
  return (content?.items ?? []).filter((item): item is TextItem => "str" in item);
}

function passageBoxes(loaded: LoadedPage | null, items: TextItem[], passage: string | null) {
  if (!loaded || passage === null) return [];
  const ranges = passageRanges(pageText(items.map((item) => item.str)), passage);
  return ranges.flatMap((range) => {
    const item = items[range.item];
    return item ? [itemBox(item, range, loaded.viewport)] : [];
  });
}

/** Returns whether an element is in view, or about to be. */
function useIsNear(ref: React.RefObject<HTMLElement | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting === true), {
      root: element.parentElement,
      rootMargin: "800px",
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return isNear;
}
