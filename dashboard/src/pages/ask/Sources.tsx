/** The passages that an answer was written from, with their scores. */

import { documentPagePath } from "../../features/documents/links";
import { ButtonLink } from "../../ui/Button";
import { formatCount, formatScore } from "../../ui/format";
import type { Passage } from "./conversation";

interface SourcesProps {
  passages: Passage[];
  cited: Set<number>;
  isComplete: boolean;
  pipelineId: string;
  shownMarker: number | null;
  onShow: (marker: number) => void;
}

export function Sources({ passages, cited, isComplete, pipelineId, shownMarker, onShow }: SourcesProps) {
  if (passages.length === 0) return null;
  return (
    <details className="sources">
      <summary>
        {formatCount(passages.length, "passage")} read{isComplete && `, ${cited.size} cited`}
      </summary>
      <ol>
        {passages.map((passage, index) => {
          const marker = index + 1;
          return (
            <li key={`${passage.chunk_id}${passage.start}`}>
              <button
                type="button"
                className="source"
                aria-pressed={shownMarker === marker}
                onClick={() => onShow(marker)}
              >
                <span className="citation-chip" data-cited={cited.has(marker) || undefined}>
                  {marker}
                </span>
                <span className="grow">{placeText(passage)}</span>
                <span className="muted" title="Relevance score">
                  {formatScore(passage.score)}
                </span>
              </button>
              {passage.document_id && (
                <ButtonLink
                  size="small"
                  kind="quiet"
                  href={documentPagePath(pipelineId, passage.document_id, passage)}
                  aria-label={`Open ${passage.filename}`}
                >
                  Open
                </ButtonLink>
              )}
            </li>
          );
        })}
      </ol>
    </details>
  );
}

/** `manual.pdf, page 3`. */
export function placeText({ filename, page }: Passage): string {
  return page === null ? filename : `${filename}, page ${page}`;
}
