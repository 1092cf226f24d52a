/** Result of an action, with the query that it ran. */
import { useQuery } from "@tanstack/react-query";
import { Copy } from "lucide-react";
import type { Isolation } from "../../features/drawing/isolation";
import { type DrawingGraph, itemIds } from "../../features/drawing/model";
import { type DrawingScope, resultQuery } from "../../features/drawing/queries";
import { ButtonLink, IconButton } from "../../ui/Button";
import { copyText } from "../../ui/CopyButton";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { IsolationResult } from "./IsolationResult";
import { ItemLink } from "./ItemLink";

interface ActionResultProps {
  scope: DrawingScope;
  graph: DrawingGraph;
  action: string;
  query: string;
  onSelect: (id: string) => void;
}

export function ActionResult({ scope, graph, action, query, onSelect }: ActionResultProps) {
  const result = useQuery(resultQuery(scope, query));
  return (
    <section className="card stack" aria-label="Result">
      {result.isPending && <Loading label="Result" />}
      {result.isError && <ProblemMessage error={result.error} />}
      {result.data && action === "isolate" && (
        <IsolationResult graph={graph} result={result.data[0] as Isolation} onSelect={onSelect} />
      )}
      {result.data && action !== "isolate" && (
        <FoundItems graph={graph} result={result.data} onSelect={onSelect} />
      )}
      <QueryText scope={scope} query={query} />
    </section>
  );
}

function QueryText({ scope, query }: { scope: DrawingScope; query: string }) {
  return (
    <div className="row">
      <code className="grow query-text">{query}</code>
      <IconButton label="Copy the query" onPress={() => copyText(query)}>
        <Copy size={15} />
      </IconButton>
      {/* The query page has one graph, not several joined. */}
      {scope.sheets.length === 0 && (
        <ButtonLink
          size="small"
          href={`/query?graph=${encodeURIComponent(scope.id)}&q=${encodeURIComponent(query)}`}
        >
          Edit
        </ButtonLink>
      )}
    </div>
  );
}

interface FoundItemsProps {
  graph: DrawingGraph;
  result: unknown[];
  onSelect: (id: string) => void;
}

function FoundItems({ graph, result, onSelect }: FoundItemsProps) {
  const ids = [...itemIds(result)].filter((id) => graph.nodeById.has(id));
  if (ids.length === 0) return <p>Nothing was found.</p>;
  return (
    <>
      <p className="muted">{ids.length === 1 ? "1 item" : `${ids.length} items`}</p>
      <p className="item-links">
        {ids.map((id) => (
          <ItemLink key={id} graph={graph} id={id} onSelect={onSelect} />
        ))}
      </p>
    </>
  );
}
