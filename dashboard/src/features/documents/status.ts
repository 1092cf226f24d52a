/** The states of a document, as people read them. */
import type { Tone } from "../../ui/Badge";
import type { DocumentStatus, PlatformDocument } from "./queries";

interface StatusRow {
  label: string;
  tone: Tone;
  description: string;
}

export const STATUSES: Record<DocumentStatus, StatusRow> = {
  queued: { label: "Queued", tone: "neutral", description: "Waits for a worker." },
  parsing: { label: "Parsing", tone: "close", description: "The text is being extracted." },
  splitting: { label: "Splitting", tone: "close", description: "The text is being split into chunks." },
  embedding: { label: "Embedding", tone: "close", description: "The chunks are being turned into vectors." },
  indexing: { label: "Indexing", tone: "close", description: "The chunks are being added to the index." },
  ready: { label: "Ready", tone: "success", description: "Searches find the document." },
  failed: { label: "Failed", tone: "danger", description: "The document could not be processed." },
  cancelled: { label: "Cancelled", tone: "warning", description: "Processing was cancelled." },
  deleting: { label: "Deleting", tone: "neutral", description: "The document is being deleted." },
};

/** `Embedding 40 of 120`. */
export function statusText(document: PlatformDocument): string {
  const { label } = STATUSES[document.status];
  const { done, total } = document.progress;
  return document.terminal || total === null || total === 0 ? label : `${label} ${done} of ${total}`;
}

export function isProcessing(document: PlatformDocument): boolean {
  return !document.terminal;
}
