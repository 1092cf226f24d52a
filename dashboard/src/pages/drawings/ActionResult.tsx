/** Result of an action, with the query that it ran. */
import { useQuery } from "@tanstack/react-query";
import { Copy } from "lucide-react";
import type { Isolation } from "../../features/drawing/isolation";
import type { Loop } from "../../features/drawing/loop";
import { type DrawingGraph, itemIds, namedItems } from "../../features/drawing/model";
import { type DrawingScope, resultQuery } from "../../features/drawing/queries";
import { ButtonLink, IconButton } from "../../ui/Button";
import { copyText } from "../../ui/CopyButton";
import { formatCount } from "../../ui/format";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { IsolationResult } from "./IsolationResult";
import { ItemLink } from "./ItemLink";
import { LoopResult } from "./LoopResult";

interface ActionResultProps {
  scope: DrawingScope;
  graph: DrawingGraph;
  /** The item that the result is about. */
  name: string;
  action: string;
  query: string;
  onSelect: (id: string) => void;
}

export function ActionResult({ scope, query, ...props }: ActionResultProps) {
  const result = useQuery(resultQuery(scope, query));
  return (
    <section className="card stack" aria-label="Result">
      {result.isPending && <Loading label="Result" />}
      {result.isError && <ProblemMessage error={result.error} onRetry={() => result.refetch()} />}
      {result.data && <ResultOf {...props} result={result.data} />}
      <QueryText scope={scope} query={query} />
    </section>
  );
}

type ResultProps = Omit<ActionResultProps, "scope" | "query"> & { result: unknown[] };

function ResultOf({ graph, name, action, result, onSelect }: ResultProps) {
  const shared = { graph, onSelect };
  if (action === "isolate")
    return <IsolationResult {...shared} name={name} result={result[0] as Isolation} />;
  if (action === "loop") return <LoopResult {...shared} result={result[0] as Loop | null} />;
  // A query that a person wrote may return rows of lists, which name their items.
  const ids = action === "highlight" ? namedItems(graph, result) : itemIds(result);
  return <FoundItems {...shared} ids={[...ids].filter((id) => graph.nodeById.has(id))} />;
}

function QueryText({ scope, query }: { scope: DrawingScope; query: string }) {
  return (
    <div className="row item-actions">
      <code className="grow query-text">{query}</code>
      <IconButton label="Copy the query" onPress={() => copyText(query)}>
        <Copy size={15} />
      </IconButton>
      {/* The query page has one graph, not several joined. */}
      {scope.sheets.length === 0 && (
        <ButtonLink size="small" href={queryPath(scope.id, query)}>
          Edit
        </ButtonLink>
      )}
    </div>
  );
}

interface FoundItemsProps {
  graph: DrawingGraph;
  ids: string[];
  onSelect: (id: string) => void;
}

function FoundItems({ graph, ids, onSelect }: FoundItemsProps) {
  if (ids.length === 0) return <p>Nothing was found.</p>;
  return (
    <>
      <p className="muted">{formatCount(ids.length, "item")}</p>
      <p className="item-links">
        {ids.map((id) => (
          <ItemLink key={id} graph={graph} id={id} onSelect={onSelect} />
        ))}
      </p>
    </>
  );
}

/** Path of the page that edits a query. */
export function queryPath(graphId: string, query: string): string {
  return `/query?graph=${encodeURIComponent(graphId)}&q=${encodeURIComponent(query)}`;
}
