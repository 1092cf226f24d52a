/** The chunks of a document; only those in view are in the page. */
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { Chunk } from "../../features/documents/queries";
import { TagList } from "../../features/documents/TagList";
import { type TagNodes, tagNodesQuery } from "../../features/documents/tags";
import { formatCount, formatNumber } from "../../ui/format";

interface ChunkListProps {
  chunks: Chunk[];
  selected: number | null;
  onSelect: (index: number) => void;
}

/** Tags whose nodes are looked up in one query. */
const TAGS = 2_000;

export function ChunkList({ chunks, selected, onSelect }: ChunkListProps) {
  const scrollRef = useRef<HTMLDivElement>(null);
  const tags = useMemo(() => chunks.flatMap((chunk) => chunk.tags).slice(0, TAGS), [chunks]);
  const nodes = useQuery(tagNodesQuery(tags)).data;
  const virtual = useVirtualizer({
    count: chunks.length,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => 150,
    overscan: 6,
    gap: 8,
    getItemKey: (index) => chunks[index]?.id ?? index,
  });
  const position = selected === null ? -1 : chunks.findIndex((chunk) => chunk.index === selected);
  useEffect(() => {
    if (position >= 0) virtual.scrollToIndex(position, { align: "center" });
  }, [position, virtual]);
  return (
    <>
      <h2 className="chunk-head">{formatCount(chunks.length, "chunk")}</h2>
      <div className="chunk-scroll" ref={scrollRef}>
        <ol className="chunk-list" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const chunk = chunks[item.index];
            return (
              chunk && (
                <li
                  key={item.key}
                  data-index={item.index}
                  ref={virtual.measureElement}
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <ChunkCard
                    chunk={chunk}
                    nodes={nodes}
                    isSelected={chunk.index === selected}
                    onSelect={() => onSelect(chunk.index)}
                  />
                </li>
              )
            );
          })}
        </ol>
      </div>
    </>
  );
}

interface ChunkCardProps {
  chunk: Chunk;
  nodes: TagNodes | undefined;
  isSelected: boolean;
  onSelect: () => void;
}

function ChunkCard({ chunk, nodes, isSelected, onSelect }: ChunkCardProps) {
  const { index, page, headings, text, token_estimate, tags, start } = chunk;
  return (
    <div className="chunk" data-selected={isSelected || undefined}>
      <button type="button" aria-pressed={isSelected} onClick={onSelect}>
        <small className="muted">
          {formatNumber(index + 1)}
          {page !== null && ` · page ${formatNumber(page)}`} · about {formatCount(token_estimate, "token")}
          {start === null && " · composed from several places"}
        </small>
        {headings.length > 0 && <strong>{headings.join(" › ")}</strong>}
        <span className="chunk-text">{text}</span>
      </button>
      <TagList tags={tags} nodes={nodes} />
    </div>
  );
}
