/** Upload of files by drop or choice, with their classification, and what becomes of them. */
import { Upload as UploadIcon } from "lucide-react";
import { useState } from "react";
import { type DropItem, DropZone, FileTrigger, Text } from "react-aria-components";
import type { Pipeline } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/fields";
import { UploadList } from "./UploadList";
import { useUploadedDocuments } from "./useUploadedDocuments";
import { useUploads } from "./useUploads";

const REMEMBERED = "pidq.upload.classification";

export function UploadArea({ pipeline, isLive }: { pipeline: Pipeline; isLive: boolean }) {
  const { uploads, isBusy, start, clear } = useUploads(pipeline.id);
  const followed = useUploadedDocuments(pipeline.id, uploads, isLive);
  const [chosen, setChosen] = useState(() => localStorage.getItem(REMEMBERED) ?? "");
  const classification = pipeline.classifications.includes(chosen)
    ? chosen
    : (pipeline.classifications[0] ?? "");
  const choose = (classification: string) => {
    localStorage.setItem(REMEMBERED, classification);
    setChosen(classification);
  };
  const ready = new Set(followed.filter(({ state }) => state === "ready").map(({ id }) => id));
  const startFiles = (files: File[]) =>
    files.length > 0 && start(files, classification, (upload) => ready.has(upload.id));
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
      {followed.length > 0 && (
        <UploadList pipeline={pipeline} uploads={followed} onClear={isBusy ? null : clear} />
      )}
    </section>
  );
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
