/** The dialogs of what is done with one document. */
import type { Pipeline } from "../../features/documents/queries";
import { Confirm } from "../../ui/Dialog";
import type { DocumentAction } from "./documentAction";
import { ReclassifyDocument } from "./ReclassifyDocument";
import { ReplaceContent } from "./ReplaceContent";
import { useDocumentActions } from "./useDocumentActions";

interface DocumentDialogsProps {
  pipeline: Pipeline;
  action: DocumentAction | null;
  onClose: () => void;
  onDeleted?: () => void;
}

export function DocumentDialogs({ pipeline, action, onClose, onDeleted }: DocumentDialogsProps) {
  const { remove } = useDocumentActions(pipeline.id);
  if (action === null) return null;
  const { kind, document } = action;
  if (kind === "reclassify")
    return <ReclassifyDocument pipeline={pipeline} document={document} onClose={onClose} />;
  if (kind === "replace") return <ReplaceContent document={document} onClose={onClose} />;
  const confirm = () =>
    remove.mutate([document.id], {
      onSuccess: () => {
        onClose();
        onDeleted?.();
      },
    });
  return (
    <Confirm
      title="Delete the document?"
      isOpen
      action="Delete"
      isPending={remove.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        <strong>{document.filename}</strong>, its chunks and the stored answers that cite it are deleted; a
        mail is deleted with its attachments. This cannot be undone.
      </p>
    </Confirm>
  );
}
