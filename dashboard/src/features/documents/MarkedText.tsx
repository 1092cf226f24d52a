/** A text with marked ranges, whose tags link to their nodes on the drawings. */
import { useMemo } from "react";
import { Link } from "react-router";
import "./documents.css";
import { type Range, type TextPart, tagRanges, textParts } from "./marks";
import { drawingPath, type TagNodes } from "./tags";

interface MarkedTextProps {
  text: string;
  marks?: Range[];
  nodes?: TagNodes | undefined;
}

const NO_MARKS: Range[] = [];

export function MarkedText({ text, marks = NO_MARKS, nodes }: MarkedTextProps) {
  const parts = useMemo(
    () => textParts(text, marks, tagRanges(text, [...(nodes?.keys() ?? [])])),
    [text, marks, nodes],
  );
  return parts.map((part) =>
    part.isMarked ? (
      <mark key={part.start}>
        <PartText part={part} nodes={nodes} />
      </mark>
    ) : (
      <PartText key={part.start} part={part} nodes={nodes} />
    ),
  );
}

function PartText({ part, nodes }: { part: TextPart; nodes: TagNodes | undefined }) {
  const node = part.tag === null ? undefined : nodes?.get(part.tag);
  if (!node) return part.text;
  return (
    <Link className="tag-link" to={drawingPath(node)} title={`${part.tag} on the drawing ${node.graph}`}>
      {part.text}
    </Link>
  );
}
