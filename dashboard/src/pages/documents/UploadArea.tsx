/** Upload of files by drop or choice, with their classification and progress. */
import { CircleAlert, CircleCheck, Copy, Upload as UploadIcon, X } from "lucide-react";
import { useState } from "react";
import { type DropItem, DropZone, FileTrigger, Text } from "react-aria-components";
import type { Pipeline } from "../../features/documents/queries";
import { Button, IconButton } from "../../ui/Button";
import { Select } from "../../ui/fields";
import { formatBytes, formatCount } from "../../ui/format";
import { ProgressBar } from "./ProgressBar";
import { type Upload, useUploads } from "./useUploads";

const REMEMBERED = "pidq.upload.classification";

export function UploadArea({ pipeline }: { pipeline: Pipeline }) {
  const { uploads, isBusy, start, clear } = useUploads(pipeline.id);
  const [chosen, setChosen] = useState(() => localStorage.getItem(REMEMBERED) ?? "");
  const classification = pipeline.classifications.includes(chosen)
    ? chosen
    : (pipeline.classifications[0] ?? "");
  const choose = (classification: string) => {
    localStorage.setItem(REMEMBERED, classification);
    setChosen(classification);
  };
  const startFiles = (files: File[]) => files.length > 0 && start(files, classification);
  return (
    <section className="upload" aria-label="Upload">
      <DropZone className="drop-zone" onDrop={async ({ items }) => startFiles(await filesOf(items))}>
        <UploadIcon size={20} aria-hidden />
        <div className="grow">
          <Text slot="label">Drop files here</Text>
          <small className="muted">
            PDF, Word, Excel, PowerPoint, OpenDocument, e-mail, HTML, Markdown, CSV, JSON, text or drawings
          </small>
        </div>
        <div className="upload-choice">
          <span className="muted">Classify as</span>
          <Select
            label="Classification of uploaded files"
            isLabelHidden
            choices={pipeline.classifications.map((id) => ({ id, label: id }))}
            value={classification}
            onChange={choose}
          />
        </div>
        <FileTrigger allowsMultiple onSelect={(files) => startFiles([...(files ?? [])])}>
          <Button kind="primary">Choose files</Button>
        </FileTrigger>
      </DropZone>
      {uploads.length > 0 && (
        <div className="card uploads">
          <div className="row">
            <strong className="grow" role="status">
              {summary(uploads, isBusy)}
            </strong>
            {!isBusy && (
              <IconButton label="Clear the list of uploads" onPress={clear}>
                <X size={16} />
              </IconButton>
            )}
          </div>
          <ul className="upload-list">
            {uploads.map((upload) => (
              <UploadRow key={upload.id} upload={upload} />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function UploadRow({ upload }: { upload: Upload }) {
  const { name, size, sent, state, message } = upload;
  return (
    <li className="upload-row" data-state={state}>
      {state === "sent" && <CircleCheck size={16} aria-hidden />}
      {state === "duplicate" && <Copy size={16} aria-hidden />}
      {state === "failed" && <CircleAlert size={16} aria-hidden />}
      <span className="upload-name">{name}</span>
      <small className="muted">{formatBytes(size)}</small>
      {state === "waiting" && <small className="muted">Waits</small>}
      {state === "sending" && <ProgressBar label={`Upload of ${name}`} value={sent} max={size} />}
      {state === "sent" && <small className="muted">Uploaded</small>}
      {state === "duplicate" && <small className="muted">The pipeline has this content already</small>}
      {state === "failed" && <small className="upload-error">{message}</small>}
    </li>
  );
}

function summary(uploads: Upload[], isBusy: boolean): string {
  const count = (state: Upload["state"]) => uploads.filter((upload) => upload.state === state).length;
  if (isBusy) return `Uploading ${formatCount(count("waiting") + count("sending"), "file")}`;
  const parts = [`${formatCount(count("sent"), "file")} uploaded`];
  if (count("duplicate") > 0) parts.push(`${count("duplicate")} already there`);
  if (count("failed") > 0) parts.push(`${count("failed")} failed`);
  return parts.join(", ");
}

/** The files of what was dropped, with those of folders. */
async function filesOf(items: DropItem[]): Promise<File[]> {
  const files: File[] = [];
  for (const item of items) {
    if (item.kind === "file") files.push(await item.getFile());
    if (item.kind === "directory") {
      const entries: DropItem[] = [];
      for await (const entry of item.getEntries()) entries.push(entry);
      files.push(...(await filesOf(entries)));
    }
  }
  return files;
}
