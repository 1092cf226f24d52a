/** Uploads a drawing by drag and drop or from a file dialog, and lists what was not read unchanged. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import { useState } from "react";
import { DropZone, FileTrigger } from "react-aria-components";
import { useNavigate } from "react-router";
import type { Schemas } from "../../api/client";
import { Button } from "../../ui/Button";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showSuccess } from "../../ui/toast";
import { uploadFile } from "../documents/upload";
import { graphUrl, idOfFile } from "../drawing/queries";
import { contentTypeOf, FILE_ENDINGS } from "./formats";
import { UploadResult } from "./UploadResult";

type PutResult = Schemas["PutResult"];

export function UploadDrawing() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [sent, setSent] = useState({ bytes: 0, size: 0 });
  const upload = useMutation({
    mutationFn: (file: File) => send(file, (bytes) => setSent({ bytes, size: file.size })),
    onSuccess: async (result) => {
      showSuccess(`${result.job_id} is stored`);
      await queries.invalidateQueries({ queryKey: ["graphs"] });
      await queries.invalidateQueries({ queryKey: ["graph", result.job_id] });
      if (result.findings.length === 0) navigate(`/drawings/${encodeURIComponent(result.job_id)}`);
    },
  });
  return (
    <>
      <DropZone
        className="upload-area"
        onDrop={async (event) => {
          const item = event.items.find((item) => item.kind === "file");
          if (item?.kind === "file") upload.mutate(await item.getFile());
        }}
      >
        <Upload size={18} aria-hidden />
        <span className="grow">
          Drop a drawing here: DEXPI, Proteus, GraphML, SFILES or JSON. The name of the file becomes its id;
          an existing id gets a new version.
        </span>
        {upload.isPending && (
          <progress
            aria-label={`Upload of ${upload.variables.name}`}
            value={sent.bytes}
            max={sent.size || 1}
          />
        )}
        <FileTrigger
          acceptedFileTypes={FILE_ENDINGS}
          onSelect={(files) => files?.[0] && upload.mutate(files[0])}
        >
          <Button isDisabled={upload.isPending}>{buttonText(upload.isPending, sent)}</Button>
        </FileTrigger>
      </DropZone>
      {upload.isError && <ProblemMessage error={upload.error} />}
      {upload.isSuccess && upload.data.findings.length > 0 && (
        <UploadResult result={upload.data} onClose={() => upload.reset()} />
      )}
    </>
  );
}

function buttonText(isPending: boolean, sent: { bytes: number; size: number }): string {
  if (!isPending) return "Choose a file";
  return sent.bytes < sent.size ? "Uploading …" : "Reading the drawing …";
}

async function send(file: File, onProgress: (sentBytes: number) => void): Promise<PutResult> {
  const type = contentTypeOf(file.name);
  if (type === null) {
    throw new Error(`${file.name} cannot be read. Files of drawings end with ${FILE_ENDINGS.join(", ")}.`);
  }
  const [url, headers] = [graphUrl(idOfFile(file.name)), { "Content-Type": type }];
  onProgress(0);
  return await uploadFile<PutResult>({ method: "PUT", url, body: file, headers, onProgress });
}
