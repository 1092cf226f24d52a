/** Changes the classification of a document. */
import { useState } from "react";
import type { Pipeline, PlatformDocument } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Select } from "../../ui/fields";
import { showSuccess } from "../../ui/toast";
import { useDocumentActions } from "./useDocumentActions";

interface ReclassifyDocumentProps {
  pipeline: Pipeline;
  document: PlatformDocument;
  onClose: () => void;
}

export function ReclassifyDocument({ pipeline, document, onClose }: ReclassifyDocumentProps) {
  const { patch } = useDocumentActions(pipeline.id);
  const [classification, setClassification] = useState(document.classification);
  const save = () =>
    patch.mutate(
      { id: document.id, body: { classification } },
      {
        onSuccess: () => {
          showSuccess(`${document.filename} is classified as ${classification}.`);
          onClose();
        },
      },
    );
  return (
    <Dialog title="Change the classification" isOpen onClose={onClose}>
      <p className="dialog-text">
        Callers without access to the new classification no longer see <strong>{document.filename}</strong>,
        and stored answers that cite it are deleted. The attachments of a mail move with it.
      </p>
      <Select
        label="Classification"
        choices={pipeline.classifications.map((id) => ({ id, label: id }))}
        value={classification}
        onChange={setClassification}
      />
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button
          kind="primary"
          isDisabled={patch.isPending || classification === document.classification}
          onPress={save}
        >
          Change
        </Button>
      </div>
    </Dialog>
  );
}
