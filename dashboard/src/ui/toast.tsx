/** Short messages about something that was done, or failed, outside of what is in view. */
import { X } from "lucide-react";
import {
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from "react-aria-components";
import { ApiProblem } from "../api/problem";
import { IconButton } from "./Button";

interface Message {
  text: string;
  tone: "success" | "danger";
}

const queue = new ToastQueue<Message>({ maxVisibleToasts: 3 });

export function showSuccess(text: string): void {
  queue.add({ text, tone: "success" }, { timeout: 5_000 });
}

export function showError(error: unknown): void {
  // The dialog about the end of the session says this once for all requests.
  if (error instanceof ApiProblem && error.fields.status === 401) return;
  const text = error instanceof ApiProblem ? (error.fields.detail ?? error.fields.title) : String(error);
  queue.add({ text, tone: "danger" });
}

export function Toasts() {
  return (
    <ToastRegion queue={queue} className="toasts">
      {({ toast }) => (
        <Toast toast={toast} className="toast" data-tone={toast.content.tone}>
          <ToastContent>
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          <IconButton label="Dismiss" slot="close">
            <X size={16} />
          </IconButton>
        </Toast>
      )}
    </ToastRegion>
  );
}
