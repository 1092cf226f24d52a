/** The reason why a document failed, and the next step. */
import "./documents.css";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Time } from "../../ui/Time";

export const remedyQuery = (code: string) =>
  queryOptions({
    queryKey: ["problem", code],
    queryFn: async () => {
      const response = await data(
        api.GET("/problems/{code}", {
          params: { path: { code } },
          headers: { Accept: "application/json" },
        }),
      );
      return response as Schemas["ProblemDescription"];
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

interface FailureMessageProps {
  failure: Schemas["IngestionFailure"];
  nextAttempt: string | null;
  /** Buttons for the next step. */
  children?: ReactNode;
}

export function FailureMessage({ failure, nextAttempt, children }: FailureMessageProps) {
  const remedy = useQuery(remedyQuery(failure.code));
  return (
    <div className="failure">
      <TriangleAlert size={18} aria-hidden />
      <div className="stack">
        <div>
          <strong>{remedy.data?.title ?? failure.code}</strong> at the stage {failure.stage}, attempt{" "}
          {failure.attempt}
          <p>{failure.message}</p>
          {remedy.data && <p>Next step: {remedy.data.remedy}</p>}
          {nextAttempt ? (
            <p>
              The service tries again at <Time at={nextAttempt} />.
            </p>
          ) : (
            <p className="muted">
              {failure.retryable
                ? "A retry may succeed."
                : "A retry of the same file fails again; upload a corrected file as a new revision."}
            </p>
          )}
        </div>
        {children && <div className="row">{children}</div>}
      </div>
    </div>
  );
}
