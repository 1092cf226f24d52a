/** The image of a page that the service renders, for PDFs that the browser cannot open. */
import { useQuery } from "@tanstack/react-query";
import { PageImage } from "../../../features/documents/PageImage";
import { type PageWords, type PlatformDocument, pageImageQuery } from "../../../features/documents/queries";
import type { TextRange } from "../../../features/documents/wordBoxes";
import { Loading } from "../../../ui/Loading";

interface RenderedPageProps {
  document: PlatformDocument;
  number: number;
  /** Words of the selected chunk on the page. */
  words: PageWords | null;
  exactRange: TextRange | null;
}

export function RenderedPage({ document, number, words, exactRange }: RenderedPageProps) {
  const { id, pipeline_id, revision, searchable_revision } = document;
  const place = { pipelineId: pipeline_id, documentId: id, revision: searchable_revision ?? revision };
  const image = useQuery(pageImageQuery(place, number));
  const name = `Page ${number} of ${document.filename}`;
  if (image.isPending) return <Loading label={name} />;
  if (!image.data) return null;
  return <PageImage source={image.data} name={name} words={words} exact={exactRange ? [exactRange] : []} />;
}
