/** The reason why a document failed, with the buttons for what to do about it. */
import { FailureMessage } from "../../features/documents/FailureMessage";
import type { PlatformDocument } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import type { DocumentAction } from "./documentAction";
import type { useDocumentActions } from "./useDocumentActions";

interface DocumentFailureProps {
  document: PlatformDocument;
  actions: ReturnType<typeof useDocumentActions>;
  onAction: (action: DocumentAction) => void;
}

export function DocumentFailure({ document, actions, onAction }: DocumentFailureProps) {
  const { error, status } = document;
  if (error === null) return null;
  const hasStopped = status === "failed" || status === "cancelled";
  return (
    <FailureMessage failure={error} nextAttempt={document.next_attempt_at}>
      {hasStopped && error.retryable && <RetryButton document={document} actions={actions} />}
      <Button size="small" onPress={() => onAction({ kind: "replace", document })}>
        Upload a new revision
      </Button>
      {hasStopped && (
        <Button size="small" kind="danger" onPress={() => onAction({ kind: "delete", document })}>
          Delete
        </Button>
      )}
    </FailureMessage>
  );
}

/** Starts the processing of a document again. */
export function RetryButton({ document, actions }: Pick<DocumentFailureProps, "document" | "actions">) {
  return (
    <Button
      size="small"
      isDisabled={actions.retry.isPending}
      onPress={() => actions.retry.mutate(document.id)}
    >
      Retry
    </Button>
  );
}
