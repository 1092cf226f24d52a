/** The pages of a PDF, rendered when they come into view, with the marked passage. */
import { useQuery } from "@tanstack/react-query";
import { ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import {
  type Chunk,
  chunkWordsQuery,
  documentPath,
  type PlatformDocument,
} from "../../../features/documents/queries";
import { scrollWithin } from "../../../features/documents/scroll";
import { IconButton } from "../../../ui/Button";
import { formatCount } from "../../../ui/format";
import type { Selection } from "../selection";
import { openPdf } from "./openPdf";
import { PdfPage } from "./PdfPage";
import { RenderedPage } from "./RenderedPage";
import "./pdf.css";
import { QueryState } from "../../../ui/QueryState";

interface PdfViewProps {
  document: PlatformDocument;
  chunks: Chunk[];
  selection: Selection;
  onSelect: (index: number) => void;
}

/** Pages after the first one of a chunk that are searched for its text. */
const REACH = 8;
const ZOOMS = [0.75, 1, 1.25, 1.5, 2, 3];

export function PdfView({ document, chunks, selection, onSelect }: PdfViewProps) {
  const url = `${documentPath(document.pipeline_id, document.id)}/content`;
  const frameRef = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const width = useWidth(frameRef);
  const pdf = useQuery({
    queryKey: ["pdf", url],
    queryFn: async () => {
      const opened = await openPdf(url);
      const first = (await opened.document.getPage(1)).getViewport({ scale: 1 });
      return { ...opened, size: { width: first.width, height: first.height } };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const { chunk } = selection;
  const target = chunk?.page ?? selection.page;
  const isReady = pdf.data !== undefined && width > 0;
  useEffect(() => {
    if (!isReady || target === null) return;
    const frame = frameRef.current;
    scrollWithin(frame, frame?.querySelector(`[data-page="${target}"]`), "start");
  }, [isReady, target]);

  const words = useQuery(chunkWordsQuery(document, chunk));
  const wordsOn = (page: number) => words.data?.find((words) => words.page === page) ?? null;
  const passageOn = (page: number) => {
    if (!chunk || chunk.page === null || page < chunk.page || page > chunk.page + REACH) return null;
    if (words.data?.length && !wordsOn(page)) return null;
    return chunk.text;
  };
  const rendered = words.data?.length ? words.data.map((words) => words.page) : [target ?? 1];
  const numbers = Array.from({ length: pdf.data?.document.numPages ?? 0 }, (_, index) => index + 1);
  const step = (by: number) => setZoom((zoom) => ZOOMS[ZOOMS.indexOf(zoom) + by] ?? zoom);
  return (
    <div className="pdf">
      <div className="pdf-bar">
        <span className="muted grow">{pdf.data && formatCount(numbers.length, "page")}</span>
        <IconButton label="Zoom out" isDisabled={zoom === ZOOMS[0]} onPress={() => step(-1)}>
          <ZoomOut size={16} />
        </IconButton>
        <span className="muted">{Math.round(zoom * 100)} %</span>
        <IconButton label="Zoom in" isDisabled={zoom === ZOOMS.at(-1)} onPress={() => step(1)}>
          <ZoomIn size={16} />
        </IconButton>
      </div>
      <div className="pdf-frame" ref={frameRef} tabIndex={0} role="region" aria-label="Pages of the document">
        <QueryState query={pdf} label="The document" />
        {pdf.isError &&
          rendered.map((page) => (
            <RenderedPage
              key={page}
              document={document}
              number={page}
              words={wordsOn(page)}
              exactRange={selection.exact}
            />
          ))}
        {pdf.data &&
          width > 0 &&
          numbers.map((number) => (
            <PdfPage
              key={number}
              pdf={pdf.data}
              number={number}
              width={width * zoom}
              ratio={pdf.data.size.height / pdf.data.size.width}
              passage={passageOn(number)}
              exact={selection.exactText}
              words={wordsOn(number)}
              exactRange={selection.exact}
              chunks={chunks}
              isFirstOfPassage={chunk?.page === number}
              onSelect={onSelect}
            />
          ))}
      </div>
    </div>
  );
}

/** The width that a page may have in an element, without its padding. */
function useWidth(ref: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
