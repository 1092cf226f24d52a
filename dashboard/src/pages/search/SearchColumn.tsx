/** The passages of one search, best first. */

import { Link } from "react-router";
import type { Schemas } from "../../api/client";
import { documentPagePath } from "../../features/documents/links";
import { MarkedText } from "../../features/documents/MarkedText";
import { queryWords, wordRanges } from "../../features/documents/marks";
import { TagList } from "../../features/documents/TagList";
import type { TagNodes } from "../../features/documents/tags";
import { formatCount, formatScore } from "../../ui/format";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { movement } from "./ranks";
import type { ModeRow } from "./settings";

interface SearchColumnProps {
  row: ModeRow;
  pipelineId: string;
  query: string;
  result: Schemas["SearchResult"] | undefined;
  error: unknown;
  onRetry: () => void;
  /** The passages of the hybrid search, which ranks are compared with. */
  hybrid: Schemas["SearchHit"][] | undefined;
  nodes: TagNodes | undefined;
}

export function SearchColumn(props: SearchColumnProps) {
  const { row, pipelineId, query, result, error, onRetry, hybrid, nodes } = props;
  return (
    <section className="search-column" aria-label={row.label}>
      <header>
        <h2>{row.label}</h2>
        <p className="muted">
          {row.description}
          {result && ` · ${formatCount(result.contexts.length, "passage")} in ${result.timings_ms.search} ms`}
        </p>
      </header>
      {error ? <ProblemMessage error={error} onRetry={onRetry} /> : !result && <Loading label={row.label} />}
      {result?.warnings.map((warning) => (
        <p key={warning.code} className="search-warning">
          {warning.detail}
        </p>
      ))}
      {result?.contexts.length === 0 && <p className="muted">No passage matches.</p>}
      <ol className="stack">
        {result?.contexts.map((hit, index) => (
          <HitCard
            key={`${hit.chunk_id}`}
            mode={row.mode}
            hit={hit}
            rank={index + 1}
            pipelineId={pipelineId}
            query={query}
            movement={row.mode === "hybrid" || !hybrid ? null : movement(hit, index, hybrid)}
            nodes={nodes}
          />
        ))}
      </ol>
    </section>
  );
}

interface HitCardProps {
  mode: ModeRow["mode"];
  hit: Schemas["SearchHit"];
  rank: number;
  pipelineId: string;
  query: string;
  movement: ReturnType<typeof movement> | null;
  nodes: TagNodes | undefined;
}

function HitCard({ mode, hit, rank, pipelineId, query, movement, nodes }: HitCardProps) {
  return (
    <li className="card hit">
      <div className="hit-head">
        <span className="hit-rank">{rank}</span>
        {hit.document_id ? (
          <Link className="grow" to={documentPagePath(pipelineId, hit.document_id, hit)}>
            {hit.title || hit.filename}
          </Link>
        ) : (
          <span className="grow">{hit.filename}</span>
        )}
        {movement && (
          <span className="hit-movement" data-direction={movement.direction} title={movement.title}>
            {movement.text}
          </span>
        )}
      </div>
      <dl className="hit-scores">
        {mode === "hybrid" && <Score label="Score" value={hit.score} />}
        {mode !== "dense" && <Score label="BM25" value={hit.scores.sparse} />}
        {mode !== "sparse" && <Score label="Dense" value={hit.scores.dense} />}
        {hit.scores.rerank !== undefined && <Score label="Rerank" value={hit.scores.rerank} />}
      </dl>
      <p className="passage-text hit-text">
        <MarkedText text={hit.text} marks={wordRanges(hit.text, queryWords(query))} nodes={nodes} />
      </p>
      <small className="muted hit-place">
        {hit.filename}
        {hit.page !== null && `, page ${hit.page}`}
      </small>
      <TagList tags={hit.tags.filter((tag) => nodes?.has(tag))} nodes={nodes} />
    </li>
  );
}

function Score({ label, value }: { label: string; value: number }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd title={String(value)}>{formatScore(value)}</dd>
    </div>
  );
}
