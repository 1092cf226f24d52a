/** The uploads to a pipeline, each followed until its document is ready or has failed. */
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, CircleX, Copy, LoaderCircle, X } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { remedyQuery } from "../../features/documents/FailureMessage";
import { documentPagePath } from "../../features/documents/links";
import type { Pipeline, PlatformDocument } from "../../features/documents/queries";
import { statusText } from "../../features/documents/status";
import { IconButton } from "../../ui/Button";
import { formatBytes } from "../../ui/format";
import { DocumentDialogs } from "./DocumentDialogs";
import { DocumentFailure } from "./DocumentFailure";
import type { DocumentAction } from "./documentAction";
import { ProgressBar } from "./ProgressBar";
import { type FollowedUpload, hasFailed, summary } from "./uploadState";
import { useDocumentActions } from "./useDocumentActions";

interface UploadListProps {
  pipeline: Pipeline;
  uploads: FollowedUpload[];
  /** Removes the list; null while files are being sent. */
  onClear: (() => void) | null;
}

export function UploadList({ pipeline, uploads, onClear }: UploadListProps) {
  const [action, setAction] = useState<DocumentAction | null>(null);
  const failed = uploads.filter(hasFailed);
  const others = uploads.filter((upload) => !hasFailed(upload));
  return (
    <div className="card uploads">
      <div className="row">
        <strong className="grow" role="status">
          {summary(uploads)}
        </strong>
        {onClear && (
          <IconButton label="Clear the list of uploads" onPress={onClear}>
            <X size={16} />
          </IconButton>
        )}
      </div>
      <ul className="upload-list">
        {[...failed, ...others].map((upload) => (
          <UploadRow key={upload.id} pipeline={pipeline} upload={upload} onAction={setAction} />
        ))}
      </ul>
      <DocumentDialogs pipeline={pipeline} action={action} onClose={() => setAction(null)} />
    </div>
  );
}

interface UploadRowProps {
  pipeline: Pipeline;
  upload: FollowedUpload;
  onAction: (action: DocumentAction) => void;
}

function UploadRow({ pipeline, upload, onAction }: UploadRowProps) {
  const { name, size, sent, state, rejection, document } = upload;
  const actions = useDocumentActions(pipeline.id);
  return (
    <li className="upload-row" data-state={hasFailed(upload) ? "failed" : state}>
      <StateIcon upload={upload} />
      {document && state !== "deleted" ? (
        <Link className="upload-name" to={documentPagePath(pipeline.id, document.id)}>
          {state === "duplicate" ? name : document.filename}
        </Link>
      ) : (
        <span className="upload-name">{name}</span>
      )}
      <small className="muted">{formatBytes(size)}</small>
      {state === "sending" && sent < size && (
        <ProgressBar label={`Upload of ${name}`} value={sent} max={size} />
      )}
      {rejection ? <Rejection {...rejection} /> : <small className="muted">{stateText(upload)}</small>}
      {document && hasFailed(upload) && (
        <div className="upload-failure">
          <DocumentFailure document={document} actions={actions} onAction={onAction} />
        </div>
      )}
    </li>
  );
}

/** Next steps of a person, where those of the API are for programs. */
const REMEDIES: Record<string, string> = {
  "unsupported-media-type": "Upload one of the types named above, for example the file exported as PDF.",
};

function Rejection({ code, message }: { code: string; message: string }) {
  const described = useQuery(remedyQuery(code)).data?.remedy;
  const remedy = REMEDIES[code] ?? described;
  return (
    <small className="upload-error">
      Not uploaded: {message} {remedy && <span className="muted">Next step: {remedy}</span>}
    </small>
  );
}

function StateIcon({ upload }: { upload: FollowedUpload }) {
  if (hasFailed(upload)) return <CircleAlert size={16} aria-hidden />;
  const { state } = upload;
  if (state === "ready") return <CircleCheck size={16} aria-hidden />;
  if (state === "duplicate") return <Copy size={16} aria-hidden />;
  if (state === "cancelled" || state === "deleted") return <CircleX size={16} aria-hidden />;
  return <LoaderCircle size={16} aria-hidden />;
}

function stateText({ state, size, sent, document }: FollowedUpload): string {
  switch (state) {
    case "waiting":
      return "Waits to be uploaded";
    case "sending":
      return sent < size ? "" : "Uploaded, waits for the service";
    case "processing":
      return `Uploaded, being processed${document ? `: ${statusText(document)}` : ""}`;
    case "ready":
      return "Ready, searches find it";
    case "duplicate":
      return duplicateText(document);
    case "failed":
      return "Uploaded, but processing failed";
    case "cancelled":
      return "Processing was cancelled";
    case "deleted":
      return "Deleted";
    case "rejected":
      return "";
  }
}

function duplicateText(document: PlatformDocument | null): string {
  return document?.status === "failed"
    ? "The pipeline has this content already, and processing it failed"
    : "The pipeline has this content already";
}
