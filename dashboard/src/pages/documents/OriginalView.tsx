/** The document itself: the pages of a PDF, or the extracted text. */
import { lazy, Suspense, useState } from "react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import type { Chunk, PlatformDocument } from "../../features/documents/queries";
import { Loading } from "../../ui/Loading";
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
  const [view, setView] = useState<"pages" | "text">(isPdf ? "pages" : "text");
  return (
    <section className="original" aria-label="Document">
      {isPdf && (
        <ToggleButtonGroup
          className="view-choice"
          aria-label="View"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[view]}
          onSelectionChange={(keys) => setView(keys.has("text") ? "text" : "pages")}
        >
          <ToggleButton id="pages">Pages</ToggleButton>
          <ToggleButton id="text">Text</ToggleButton>
        </ToggleButtonGroup>
      )}
      {view === "pages" ? (
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
        <TextView document={document} chunks={chunks} selection={selection} onSelect={onSelect} />
      )}
    </section>
  );
}
