/** The passage that a citation refers to, with the words that the answer uses. */
import { FileText, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { codePointOffset } from "../../features/documents/codePoints";
import { documentPagePath } from "../../features/documents/links";
import { MarkedText } from "../../features/documents/MarkedText";
import { queryWords, quoteRanges, quotesOf, type Range, wordRanges } from "../../features/documents/marks";
import { scrollWithin } from "../../features/documents/scroll";
import { TagList } from "../../features/documents/TagList";
import type { TagNodes } from "../../features/documents/tags";
import type { TextRange } from "../../features/documents/wordBoxes";
import { ButtonLink, IconButton } from "../../ui/Button";
import type { Passage } from "./conversation";
import { PassagePages } from "./PassagePages";
import { placeText } from "./Sources";

export interface ShownPassage {
  turnId: string;
  marker: number;
  passage: Passage;
  answer: string;
  question: string;
  nodes: TagNodes | undefined;
}

interface PassagePanelProps {
  shown: ShownPassage;
  pipelineId: string;
  onClose: () => void;
}

export function PassagePanel({ shown, pipelineId, onClose }: PassagePanelProps) {
  const { marker, passage, nodes } = shown;
  const bodyRef = useRef<HTMLDivElement>(null);
  const quotes = quoteRanges(passage.text, quotesOf(shown.answer));
  const marks = quotes.length > 0 ? quotes : wordRanges(passage.text, queryWords(shown.question));
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when another passage is shown
  useEffect(() => {
    scrollWithin(bodyRef.current, bodyRef.current?.querySelector("mark"), "center");
  }, [passage]);
  return (
    <aside className="passage card" aria-label={`Passage ${marker}`}>
      <header className="passage-head">
        <span className="citation-chip" data-cited>
          {marker}
        </span>
        <h2>{placeText(passage)}</h2>
        <IconButton label="Close the passage" onPress={onClose}>
          <X size={18} />
        </IconButton>
      </header>
      <div className="passage-body" ref={bodyRef} tabIndex={0} role="region" aria-label="Text of the passage">
        <p className="passage-text">
          <MarkedText text={passage.text} marks={marks} nodes={nodes} />
        </p>
      </div>
      <PassagePages passage={passage} pipelineId={pipelineId} marks={textRanges(passage, marks)} />
      <TagList tags={passage.tags} nodes={nodes} />
      {passage.document_id && (
        <ButtonLink href={documentPagePath(pipelineId, passage.document_id, placeOf(passage, quotes[0]))}>
          <FileText size={16} aria-hidden /> Open in the document
        </ButtonLink>
      )}
    </aside>
  );
}

/** The place of the first quote, or of the whole passage. */
function placeOf(passage: Passage, quote: Range | undefined) {
  const { page, start, end } = passage;
  return { page, ...((quote && textRanges(passage, [quote])[0]) ?? { start, end }) };
}

/** Ranges of a passage as those of the text of its document; none if the passage is no part of it. */
function textRanges({ text, start }: Passage, ranges: Range[]): TextRange[] {
  if (start === null) return [];
  return ranges.map((range) => ({
    start: start + codePointOffset(text, range.start),
    end: start + codePointOffset(text, range.end),
  }));
}
