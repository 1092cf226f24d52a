/** The document itself: the pages of a PDF, an image, or the extracted text. */
import { lazy, Suspense, useState } from "react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import type { Chunk, PlatformDocument } from "../../features/documents/queries";
import { Loading } from "../../ui/Loading";
import { ImageView, isShownImage } from "./ImageView";
import type { Selection } from "./selection";
import { TextView } from "./TextView";

const PdfView = lazy(async () => ({ default: (await import("./pdf/PdfView")).PdfView }));

interface OriginalViewProps {
  document: PlatformDocument;
  chunks: Chunk[];
  selection: Selection;
  onSelect: (index: number) => void;
}

export function OriginalView({ document, chunks, selection, onSelect }: OriginalViewProps) {
  const isPdf = document.content_type === "application/pdf";
  const hasPages = isPdf || isShownImage(document);
  const [view, setView] = useState<"pages" | "text">(hasPages ? "pages" : "text");
  return (
    <section className="original" aria-label="Document">
      {hasPages && (
        <ToggleButtonGroup
          className="view-choice"
          aria-label="View"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[view]}
          onSelectionChange={(keys) => setView(keys.has("text") ? "text" : "pages")}
        >
          <ToggleButton id="pages">{isPdf ? "Pages" : "Image"}</ToggleButton>
          <ToggleButton id="text">Text</ToggleButton>
        </ToggleButtonGroup>
      )}
      {view === "text" ? (
        <TextView document={document} chunks={chunks} selection={selection} onSelect={onSelect} />
      ) : isPdf ? (
        <Suspense fallback={<Loading label="The viewer" />}>
          <PdfView
            key={document.revision}
            document={document}
            chunks={chunks}
            selection={selection}
            onSelect={onSelect}
          />
        </Suspense>
      ) : (
        <ImageView document={document} selection={selection} />
      )}
    </section>
  );
}
