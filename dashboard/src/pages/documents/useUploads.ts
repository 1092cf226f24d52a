/** The files that are being uploaded to a pipeline, a few at a time. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiProblem } from "../../api/problem";
import { documentsKey } from "../../features/documents/queries";
import { uploadFile } from "../../features/documents/upload";

export interface Upload {
  id: number;
  name: string;
  size: number;
  sent: number;
  state: "waiting" | "sending" | "sent" | "duplicate" | "failed";
  message: string | null;
}

const CONCURRENT = 3;

export function useUploads(pipelineId: string) {
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const nextId = useRef(0);
  const isBusy = uploads.some(({ state }) => state === "waiting" || state === "sending");

  useEffect(() => {
    if (!isBusy) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isBusy]);

  const change = (id: number, fields: Partial<Upload>) =>
    setUploads((uploads) => uploads.map((upload) => (upload.id === id ? { ...upload, ...fields } : upload)));

  const send = async (id: number, file: File, classification: string) => {
    change(id, { state: "sending" });
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
      change(id, { state: document.duplicate ? "duplicate" : "sent", sent: file.size });
      queries.invalidateQueries({ queryKey: documentsKey(pipelineId) });
    } catch (error) {
      change(id, { state: "failed", message: messageOf(error) });
    }
  };

  const start = async (files: File[], classification: string) => {
    const rows = files.map((file) => ({ id: nextId.current++, file }));
    setUploads((uploads) => [
      ...uploads.filter(({ state }) => state !== "sent"),
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
  return { id, name: file.name, size: file.size, sent: 0, state: "waiting", message: null };
}

function messageOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return String(error);
  const { title, detail, errors = [] } = error.fields;
  return [detail ?? title, ...errors.map((error) => error.detail)].join(" ");
}
