/** State of an upload until its document is searchable, or is not going to be. */
import type { PlatformDocument } from "../../features/documents/queries";
import { formatCount } from "../../ui/format";
import type { Upload } from "./useUploads";

export type UploadState =
  | "waiting"
  | "sending"
  /** The service has not accepted the file. */
  | "rejected"
  | "duplicate"
  | "processing"
  | "ready"
  | "failed"
  | "cancelled"
  | "deleted";

export interface FollowedUpload extends Upload {
  state: UploadState;
}

/** Documents as the service listed them, and the time of the request. */
export interface Listing {
  requestedAt: number;
  documents: PlatformDocument[];
}

/** An upload with the present state of its document. */
export function followed(upload: Upload, listing: Listing | undefined): FollowedUpload {
  const { step, sentAt, document: uploaded } = upload;
  if (step !== "sent" || uploaded === null)
    return { ...upload, state: step === "sent" ? "processing" : step };
  if (uploaded.duplicate) return { ...upload, state: "duplicate" };
  const listed = listing?.documents.find(({ id }) => id === uploaded.id);
  const isGone = listing !== undefined && listed === undefined && listing.requestedAt > (sentAt ?? 0);
  if (isGone) return { ...upload, state: "deleted" };
  const document = listed ?? uploaded;
  return { ...upload, document, state: stateOf(document) };
}

function stateOf({ status, terminal }: PlatformDocument): UploadState {
  if (status === "ready" || status === "failed" || status === "cancelled") return status;
  return terminal ? "deleted" : "processing";
}

/** Returns whether a person has to do something about the upload. */
export function hasFailed({ state, document }: FollowedUpload): boolean {
  return (
    state === "rejected" || state === "failed" || (state === "duplicate" && document?.status === "failed")
  );
}

/** `1 file ready, 2 being processed, 1 failed`. */
export function summary(uploads: FollowedUpload[]): string {
  const count = (...states: UploadState[]) => uploads.filter(({ state }) => states.includes(state)).length;
  const sending = count("waiting", "sending");
  const parts: [number, string][] = [
    [sending, "being uploaded"],
    [count("processing"), "being processed"],
    [count("ready"), "ready"],
    [count("duplicate"), "already there"],
    [count("cancelled"), "cancelled"],
    [count("deleted"), "deleted"],
    [count("rejected", "failed"), "failed"],
  ];
  const shown = parts.filter(([number]) => number > 0);
  return shown
    .map(([number, words], index) => `${index === 0 ? formatCount(number, "file") : number} ${words}`)
    .join(", ");
}
