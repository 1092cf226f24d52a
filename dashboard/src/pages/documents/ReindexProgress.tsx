/** Progress of a reindex, with its outcome. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { api, data, type Schemas } from "../../api/client";
import { Button, IconButton } from "../../ui/Button";
import { formatNumber } from "../../ui/format";
import { Time } from "../../ui/Time";
import { showError } from "../../ui/toast";
import { ProgressBar } from "./ProgressBar";

const TITLES: Record<Schemas["OperationState"], string> = {
  running: "Reindexing",
  succeeded: "The new index is in use",
  failed: "The reindex failed; the old index stays in use",
  cancelled: "The reindex was cancelled; the old index stays in use",
};

export function ReindexProgress({ operationId, onClose }: { operationId: string; onClose: () => void }) {
  const path = { operation_id: operationId };
  const operation = useQuery({
    queryKey: ["operations", operationId],
    queryFn: () => data(api.GET("/api/operations/{operation_id}", { params: { path } })),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? 1_000 : false),
  });
  const cancel = useMutation({
    mutationFn: () => api.POST("/api/operations/{operation_id}/cancel", { params: { path } }),
    onSettled: () => operation.refetch(),
    onError: showError,
  });
  if (!operation.data) return null;
  const { status, progress, error, next_attempt_at } = operation.data;
  return (
    <section className="card row" aria-label="Reindex">
      <div className="grow stack" role="status">
        <strong>{TITLES[status]}</strong>
        {status === "running" && (
          <>
            <ProgressBar label="Documents in the new index" value={progress.done} max={progress.total ?? 0} />
            <small className="muted">
              {formatNumber(progress.done)} of {formatNumber(progress.total ?? 0)} documents
            </small>
          </>
        )}
        {error && (
          <p>
            {error.message}
            {next_attempt_at && (
              <>
                {" "}
                Next attempt: <Time at={next_attempt_at} />.
              </>
            )}
          </p>
        )}
      </div>
      {status === "running" ? (
        <Button isDisabled={cancel.isPending} onPress={() => cancel.mutate()}>
          Cancel
        </Button>
      ) : (
        <IconButton label="Dismiss" onPress={onClose}>
          <X size={16} />
        </IconButton>
      )}
    </section>
  );
}
