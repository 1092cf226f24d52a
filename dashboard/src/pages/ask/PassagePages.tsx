/** The pages of a passage, with its words marked, where the service has images of them. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiProblem } from "../../api/problem";
import { PageImage } from "../../features/documents/PageImage";
import {
  type PageWords,
  pageImageQuery,
  placeWordsQuery,
  type TextPlace,
} from "../../features/documents/queries";
import { scrollWithin } from "../../features/documents/scroll";
import { type TextRange, wordsIn } from "../../features/documents/wordBoxes";
import { QueryState } from "../../ui/QueryState";
import type { Passage } from "./conversation";

interface PassagePagesProps {
  passage: Passage;
  pipelineId: string;
  /** Parts of the passage to mark more clearly. */
  marks: TextRange[];
}

/** Problems of documents and installations without images: there is the text of the passage. */
const WITHOUT_IMAGES = ["no-page-images", "renderer-not-configured"];

export function PassagePages({ passage, pipelineId, marks }: PassagePagesProps) {
  const { document_id, revision, start, end, page, filename } = passage;
  if (document_id === null || page === null || start === null || end === null) return null;
  const place = { pipelineId, documentId: document_id, revision, start, end };
  return <PlacePages key={`${document_id} ${start}`} place={place} filename={filename} marks={marks} />;
}

function PlacePages({ place, filename, marks }: { place: TextPlace; filename: string; marks: TextRange[] }) {
  const words = useQuery(placeWordsQuery(place));
  const page = words.data && shownPage(words.data, marks);
  // The pages of an image file are not rendered.
  if (page?.unit !== "point") return null;
  return <PlacePage place={place} page={page} name={`Page ${page.page} of ${filename}`} marks={marks} />;
}

/** The page with the first mark, or the first one of the passage. */
function shownPage(pages: PageWords[], marks: TextRange[]): PageWords | undefined {
  return pages.find((page) => marks.some((mark) => wordsIn(page, mark).length > 0)) ?? pages[0];
}

interface PlacePageProps {
  place: TextPlace;
  page: PageWords;
  name: string;
  marks: TextRange[];
}

function PlacePage({ place, page, name, marks }: PlacePageProps) {
  const frameRef = useRef<HTMLDivElement>(null);
  const [isLoaded, setLoaded] = useState(false);
  const image = useQuery(pageImageQuery(place, page.page));
  useEffect(() => {
    if (!isLoaded) return;
    const frame = frameRef.current;
    scrollWithin(
      frame,
      frame?.querySelector("[data-exact]") ?? frame?.querySelector("[data-mark]"),
      "center",
    );
  }, [isLoaded]);
  if (image.error instanceof ApiProblem && WITHOUT_IMAGES.includes(image.error.fields.code)) return null;
  return (
    <div className="passage-page" ref={frameRef} tabIndex={0} role="region" aria-label={name}>
      <QueryState query={image} label={name} />
      {image.data && (
        <PageImage
          source={image.data}
          name={name}
          words={page}
          exact={marks}
          onLoad={() => setLoaded(true)}
        />
      )}
    </div>
  );
}
