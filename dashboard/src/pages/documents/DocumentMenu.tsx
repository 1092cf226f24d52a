/** Menu of the actions on a document, by its state. */
import { MoreHorizontal } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { documentPath, type PlatformDocument } from "../../features/documents/queries";
import { isProcessing } from "../../features/documents/status";
import type { DocumentAction } from "./documentAction";
import type { useDocumentActions } from "./useDocumentActions";

interface DocumentMenuProps {
  document: PlatformDocument;
  actions: ReturnType<typeof useDocumentActions>;
  onAction: (action: DocumentAction) => void;
}

export function DocumentMenu({ document, actions, onAction }: DocumentMenuProps) {
  const choose = (key: string | number) => {
    if (key === "retry") actions.retry.mutate(document.id);
    else if (key === "cancel") actions.cancel.mutate(document.id);
    else if (key === "reclassify" || key === "replace" || key === "delete") onAction({ kind: key, document });
  };
  const canRetry = document.status === "failed" || document.status === "cancelled";
  return (
    <MenuTrigger>
      <Button className="icon-button row-action" aria-label={`Actions for ${document.filename}`}>
        <MoreHorizontal size={16} aria-hidden />
        <span className="row-action-words">Actions</span>
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu className="menu" onAction={choose}>
          {canRetry && (
            <MenuItem id="retry" className="menu-item">
              Retry
            </MenuItem>
          )}
          {isProcessing(document) && document.status !== "deleting" && (
            <MenuItem id="cancel" className="menu-item">
              Cancel processing
            </MenuItem>
          )}
          {document.parent_id === null && (
            <MenuItem id="reclassify" className="menu-item">
              Change the classification
            </MenuItem>
          )}
          <MenuItem id="replace" className="menu-item">
            Upload a new revision
          </MenuItem>
          <MenuItem
            id="download"
            className="menu-item"
            href={`${documentPath(document.pipeline_id, document.id)}/content`}
            download={document.filename}
          >
            Download
          </MenuItem>
          <MenuItem id="delete" className="menu-item danger-item">
            Delete
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
