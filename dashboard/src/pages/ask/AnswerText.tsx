/** An answer with its citations as numbered chips. It is shown as text only, whatever a model writes. */
import { MarkedText } from "../../features/documents/MarkedText";
import type { TagNodes } from "../../features/documents/tags";
import { answerParts } from "./answerParts";
import type { Passage } from "./conversation";

interface AnswerTextProps {
  text: string;
  passages: Passage[];
  nodes: TagNodes | undefined;
  shownMarker: number | null;
  onShow: (marker: number) => void;
}

export function AnswerText({ text, passages, nodes, shownMarker, onShow }: AnswerTextProps) {
  const parts = answerParts(text, (marker) => marker >= 1 && marker <= passages.length);
  return (
    <p className="answer-text">
      {parts.map(({ start, text, marker }) =>
        marker === null ? (
          <MarkedText key={start} text={text} nodes={nodes} />
        ) : (
          <button
            key={start}
            type="button"
            className="citation-chip"
            aria-label={`Passage ${marker}, ${passages[marker - 1]?.filename}`}
            aria-pressed={shownMarker === marker}
            onClick={() => onShow(marker)}
          >
            {marker}
          </button>
        ),
      )}
    </p>
  );
}
