/** Modal dialogs. */
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Button, IconButton } from "./Button";

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  size?: "normal" | "wide";
  children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, size = "normal", children }: DialogProps) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable
    >
      <Modal className="modal" data-size={size}>
        <AriaDialog className="dialog">
          <div className="dialog-head">
            <Heading slot="title">{title}</Heading>
            <IconButton label="Close" onPress={onClose}>
              <X size={18} />
            </IconButton>
          </div>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ConfirmProps {
  title: string;
  isOpen: boolean;
  action: string;
  isPending?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before something is deleted. */
export function Confirm({ title, isOpen, action, isPending, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <div className="dialog-text">{children}</div>
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="danger" isDisabled={isPending === true} onPress={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
