/** A document that is an image, with the words of the selected chunk marked. */
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { PageImage } from "../../features/documents/PageImage";
import { chunkWordsQuery, documentPath, type PlatformDocument } from "../../features/documents/queries";
import { scrollWithin } from "../../features/documents/scroll";
import type { Selection } from "./selection";

/** Media types of images that browsers show. */
const SHOWN_IMAGES = ["image/png", "image/jpeg"];

export function isShownImage({ content_type }: PlatformDocument): boolean {
  return SHOWN_IMAGES.includes(content_type);
}

interface ImageViewProps {
  document: PlatformDocument;
  selection: Selection;
}

export function ImageView({ document, selection }: ImageViewProps) {
  const frameRef = useRef<HTMLDivElement>(null);
  const { data } = useQuery(chunkWordsQuery(document, selection.chunk));
  const words = data?.[0] ?? null;
  const scroll = () => {
    const frame = frameRef.current;
    scrollWithin(
      frame,
      frame?.querySelector("[data-exact]") ?? frame?.querySelector("[data-mark]"),
      "center",
    );
  };
  return (
    <div className="image-frame" ref={frameRef} tabIndex={0} role="region" aria-label="Image of the document">
      <PageImage
        key={`${words?.words[0]?.start} ${selection.exact?.start}`}
        source={`${documentPath(document.pipeline_id, document.id)}/content`}
        name={document.filename}
        words={words}
        exact={selection.exact ? [selection.exact] : []}
        onLoad={scroll}
      />
    </div>
  );
}
