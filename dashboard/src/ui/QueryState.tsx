/** State of a query that has no data yet: a bar while it loads, or its problem. */
import type { UseQueryResult } from "@tanstack/react-query";
import { Loading } from "./Loading";
import { ProblemMessage } from "./ProblemMessage";

interface QueryStateProps {
  query: Pick<UseQueryResult, "isPending" | "isError" | "error" | "refetch">;
  /** Name of what is loaded. */
  label: string;
}

export function QueryState({ query, label }: QueryStateProps) {
  if (query.isError) return <ProblemMessage error={query.error} onRetry={() => query.refetch()} />;
  return query.isPending ? <Loading label={label} /> : null;
}
