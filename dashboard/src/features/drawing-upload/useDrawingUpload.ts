/** Stores an uploaded drawing, and makes pages read it again. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { showSuccess } from "../../ui/toast";
import { uploadFile } from "../documents/upload";
import { graphUrl } from "../drawing/queries";
import type { DrawingFiles } from "./drawingFiles";

export type PutResult = Schemas["PutResult"];

interface Options {
  onStored?: (result: PutResult) => void;
}

/** The files are prepared as a part of the upload, so that a file that cannot be read is shown like one that is refused. */
export function useDrawingUpload({ onStored }: Options = {}) {
  const queries = useQueryClient();
  const [sent, setSent] = useState({ bytes: 0, size: 0 });
  const upload = useMutation({
    mutationFn: async (prepared: DrawingFiles | Promise<DrawingFiles>) => {
      const { graphId, body, size, headers } = await prepared;
      setSent({ bytes: 0, size });
      const onProgress = (bytes: number) => setSent({ bytes, size });
      return uploadFile<PutResult>({ method: "PUT", url: graphUrl(graphId), body, headers, onProgress });
    },
    onSuccess: async (result) => {
      showSuccess(`${result.job_id} is stored as version ${result.change_version}`);
      await queries.invalidateQueries({ queryKey: ["graphs"] });
      await queries.invalidateQueries({ queryKey: ["graph", result.job_id] });
      onStored?.(result);
    },
  });
  return { upload, sent };
}

/** The text of the button of an upload. */
export function uploadText(idle: string, isPending: boolean, sent: { bytes: number; size: number }): string {
  if (!isPending) return idle;
  return sent.bytes < sent.size ? "Uploading …" : "Reading the drawing …";
}
