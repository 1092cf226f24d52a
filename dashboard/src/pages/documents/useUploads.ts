/** The files that are being uploaded to a pipeline, a few at a time. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiProblem } from "../../api/problem";
import { documentsKey, type PlatformDocument } from "../../features/documents/queries";
import { uploadFile } from "../../features/documents/upload";

export interface Upload {
  id: number;
  name: string;
  size: number;
  sent: number;
  step: "waiting" | "sending" | "sent" | "rejected";
  /** Reason of a rejection. */
  rejection: { code: string; message: string } | null;
  /** The document as the service accepted it, and the time of that, in milliseconds. */
  document: PlatformDocument | null;
  sentAt: number | null;
}

const CONCURRENT = 3;

export function useUploads(pipelineId: string) {
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const nextId = useRef(0);
  const isBusy = uploads.some(({ step }) => step === "waiting" || step === "sending");

  useEffect(() => {
    if (!isBusy) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isBusy]);

  const change = (id: number, fields: Partial<Upload>) =>
    setUploads((uploads) => uploads.map((upload) => (upload.id === id ? { ...upload, ...fields } : upload)));

  const send = async (id: number, file: File, classification: string) => {
    change(id, { step: "sending" });
    const form = new FormData();
    form.set("classification", classification);
    form.set("file", file);
    try {
      const document = await uploadFile({
        method: "POST",
        url: `/api/pipelines/${encodeURIComponent(pipelineId)}/documents`,
        body: form,
        onProgress: (sent) => change(id, { sent }),
      });
      change(id, { step: "sent", sent: file.size, document, sentAt: Date.now() });
      queries.invalidateQueries({ queryKey: documentsKey(pipelineId) });
    } catch (error) {
      change(id, { step: "rejected", rejection: rejectionOf(error) });
    }
  };

  const start = async (files: File[], classification: string, isDone: (upload: Upload) => boolean) => {
    const rows = files.map((file) => ({ id: nextId.current++, file }));
    setUploads((uploads) => [
      ...uploads.filter((upload) => !isDone(upload)),
      ...rows.map(({ id, file }) => newUpload(id, file)),
    ]);
    const worker = async () => {
      for (let row = rows.shift(); row; row = rows.shift()) await send(row.id, row.file, classification);
    };
    await Promise.all(Array.from({ length: CONCURRENT }, worker));
    queries.invalidateQueries({ queryKey: ["pipelines"] });
  };

  return { uploads, isBusy, start, clear: () => setUploads([]) };
}

function newUpload(id: number, file: File): Upload {
  const { name, size } = file;
  return { id, name, size, sent: 0, step: "waiting", rejection: null, document: null, sentAt: null };
}

function rejectionOf(error: unknown): Upload["rejection"] {
  if (!(error instanceof ApiProblem)) return { code: "unknown", message: String(error) };
  const { code, title, detail, errors = [] } = error.fields;
  return { code, message: [detail ?? title, ...errors.map((error) => error.detail)].join(" ") };
}
