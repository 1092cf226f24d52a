/** The passages that each search mode finds, beside each other. */
import { useQueries } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { documentPagePath } from "../../features/documents/links";
import { MarkedText } from "../../features/documents/MarkedText";
import { queryWords, wordRanges } from "../../features/documents/marks";
import { Badge } from "../../ui/Badge";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { rankChange } from "./rankChange";

type Hit = Schemas["SearchHit"];
type Mode = Schemas["SearchMode"];

/** Search modes, one column each; ranks are compared with the first. */
const MODES: { mode: Mode; label: string; description: string }[] = [
  { mode: "sparse", label: "Words", description: "BM25" },
  { mode: "dense", label: "Vectors", description: "cosine similarity" },
  { mode: "hybrid", label: "Both", description: "the default" },
];

const PASSAGES = 10;

interface RankingsProps {
  pipelineId: string;
  classification: string;
  query: string;
}

export function Rankings({ pipelineId, classification, query }: RankingsProps) {
  const results = useQueries({
    queries: MODES.map(({ mode }) => ({
      queryKey: ["search", pipelineId, classification, query, mode],
      queryFn: async () => {
        const body = { query, classification, mode, top_k: PASSAGES };
        const path = { pipeline_id: pipelineId };
        return data(api.POST("/api/pipelines/{pipeline_id}/search", { params: { path }, body }));
      },
    })),
  });
  const byWords = results[0]?.data?.contexts ?? [];
  return (
    <div className="rankings">
      {MODES.map((row, at) => {
        const result = results[at];
        return (
          <section key={row.mode} aria-label={row.label} className="ranking">
            <h2>
              {row.label} <small className="muted">{row.description}</small>
            </h2>
            {result?.isPending && <Loading label={row.label} />}
            {result?.isError && <ProblemMessage error={result.error} />}
            {result?.data?.warnings.map((warning) => (
              <p key={warning.code} className="muted">
                {warning.detail}
              </p>
            ))}
            {result?.data?.contexts.length === 0 && <p className="muted">Nothing was found.</p>}
            <ol className="stack">
              {result?.data?.contexts.map((hit, rank) => (
                <Passage
                  key={hit.chunk_id ?? rank}
                  hit={hit}
                  pipelineId={pipelineId}
                  query={query}
                  rank={rank}
                  change={at === 0 ? null : rankChange(byWords, hit, rank)}
                />
              ))}
            </ol>
          </section>
        );
      })}
    </div>
  );
}

interface PassageProps {
  hit: Hit;
  pipelineId: string;
  query: string;
  rank: number;
  change: string | null;
}

function Passage({ hit, pipelineId, query, rank, change }: PassageProps) {
  const place = { start: hit.start, end: hit.end, page: hit.page };
  return (
    <li className="card passage">
      <div className="row">
        <strong>{rank + 1}</strong>
        {hit.document_id ? (
          <Link className="grow" to={documentPagePath(pipelineId, hit.document_id, place)}>
            {hit.filename}
          </Link>
        ) : (
          <span className="grow">{hit.filename}</span>
        )}
        {change && <Badge tone={change.startsWith("+") ? "success" : "neutral"}>{change}</Badge>}
      </div>
      <p className="passage-text">
        <MarkedText text={hit.text} marks={wordRanges(hit.text, queryWords(query))} />
      </p>
      <p className="muted">
        score {hit.score.toFixed(3)} · words {hit.scores.sparse.toFixed(2)} · vectors{" "}
        {hit.scores.dense.toFixed(3)}
      </p>
    </li>
  );
}
