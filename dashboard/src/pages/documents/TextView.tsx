/** The extracted text of a document, with the place of the selected chunk. */
import { useQuery } from "@tanstack/react-query";
import { type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import { utf16Indexes } from "../../features/documents/codePoints";
import { type Chunk, type PlatformDocument, textQuery } from "../../features/documents/queries";
import { scrollWithin } from "../../features/documents/scroll";
import { Button } from "../../ui/Button";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import type { Selection } from "./selection";
import { textSegments, WINDOW, windowAround } from "./textSegments";

interface TextViewProps {
  document: PlatformDocument;
  chunks: Chunk[];
  selection: Selection;
  onSelect: (index: number) => void;
}

export function TextView({ document, chunks, selection, onSelect }: TextViewProps) {
  const text = useQuery(textQuery(document.pipeline_id, document.id, document.searchable_revision));
  if (text.isError) return <ProblemMessage error={text.error} onRetry={() => text.refetch()} />;
  if (text.data === undefined) return <Loading label="The text" />;
  return <LoadedText text={text.data} chunks={chunks} selection={selection} onSelect={onSelect} />;
}

interface LoadedTextProps extends Omit<TextViewProps, "document"> {
  text: string;
}

function LoadedText({ text, chunks, selection, onSelect }: LoadedTextProps) {
  const frameRef = useRef<HTMLDivElement>(null);
  /** The place that the person turned to, in a text that is too long to be shown at once. */
  const [turnedTo, setTurnedTo] = useState<number | null>(null);
  const { chunk, exact } = selection;
  const target = exact?.start ?? chunk?.start ?? null;
  const window = useMemo(() => {
    const index = target === null ? 0 : (utf16Indexes(text, [target]).get(target) ?? 0);
    return windowAround(text.length, turnedTo ?? index);
  }, [text, target, turnedTo]);
  const segments = useMemo(() => textSegments(text, chunks, exact, window), [text, chunks, exact, window]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new selection ends the turning of pages
  useEffect(() => setTurnedTo(null), [target]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to a new selection, and once the text is there
  useEffect(() => {
    const frame = frameRef.current;
    const mark = frame?.querySelector("mark[data-exact]") ?? frame?.querySelector("mark");
    scrollWithin(frame, mark, "center");
  }, [target, chunks]);

  const select = (event: MouseEvent) => {
    if (globalThis.getSelection()?.isCollapsed === false) return;
    const element = (event.target as Element).closest<HTMLElement>("[data-chunks]");
    const candidates = (element?.dataset.chunks ?? "").split(" ").filter(Boolean).map(Number);
    // Where chunks overlap, a second click selects the next one.
    const next = candidates[(candidates.indexOf(chunk?.index ?? -1) + 1) % candidates.length];
    if (next !== undefined) onSelect(next);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a shortcut for the pointer; the list of chunks does the same by keyboard
    <div
      className="original-text"
      ref={frameRef}
      tabIndex={0}
      role="region"
      aria-label="Text of the document"
      onClick={select}
    >
      {window.start > 0 && (
        <Button size="small" onPress={() => setTurnedTo(Math.max(0, window.start - WINDOW / 2))}>
          Show earlier text
        </Button>
      )}
      <div className="passage-text">
        {segments.map((segment) => {
          const isMarked = chunk !== null && segment.chunks.includes(chunk.index);
          const Element = isMarked ? "mark" : "span";
          return (
            <Element
              key={segment.start}
              data-chunks={segment.chunks.join(" ")}
              data-exact={segment.isExact || undefined}
            >
              {segment.text}
            </Element>
          );
        })}
      </div>
      {window.end < text.length && (
        <Button size="small" onPress={() => setTurnedTo(window.end)}>
          Show later text
        </Button>
      )}
    </div>
  );
}
