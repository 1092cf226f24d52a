/** Uploads a new revision of a document. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { FileTrigger } from "react-aria-components";
import { checked } from "../../api/client";
import { documentPath, documentsKey, type PlatformDocument } from "../../features/documents/queries";
import { uploadFile } from "../../features/documents/upload";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { formatBytes } from "../../ui/format";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showSuccess } from "../../ui/toast";
import { ProgressBar } from "./ProgressBar";

export function ReplaceContent({ document, onClose }: { document: PlatformDocument; onClose: () => void }) {
  const queries = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [sent, setSent] = useState(0);
  const contentPath = `${documentPath(document.pipeline_id, document.id)}/content`;
  // The entity tag of the content that the dialog is about: a revision of somebody else in the meantime is a conflict.
  const tag = useQuery({
    queryKey: ["content-tag", document.id, document.revision],
    queryFn: async () =>
      (await checked(await fetch(contentPath, { method: "HEAD" }))).headers.get("ETag") ?? "*",
  });
  const replace = useMutation({
    mutationFn: (file: File) =>
      uploadFile({
        method: "PUT",
        url: `${contentPath}?filename=${encodeURIComponent(file.name)}`,
        body: file,
        headers: { "If-Match": tag.data ?? "*" },
        onProgress: setSent,
      }),
    onSuccess: ({ revision }) => {
      queries.invalidateQueries({ queryKey: documentsKey(document.pipeline_id) });
      showSuccess(
        revision === document.revision
          ? "The file has the same content: there is no new revision."
          : `Revision ${revision} is being processed.`,
      );
      onClose();
    },
  });
  return (
    <Dialog title="Upload a new revision" isOpen onClose={onClose}>
      <p className="dialog-text">
        The file replaces <strong>{document.filename}</strong>, revision {document.revision}. The old revision
        stays searchable until the new one is ready.
      </p>
      <div className="row">
        <FileTrigger onSelect={(files) => setFile(files?.[0] ?? null)}>
          <Button>Choose a file</Button>
        </FileTrigger>
        <span className="grow upload-name">
          {file ? `${file.name}, ${formatBytes(file.size)}` : "No file chosen"}
        </span>
      </div>
      {replace.isPending && file && <ProgressBar label="Upload" value={sent} max={file.size} />}
      {tag.isError && <ProblemMessage error={tag.error} />}
      {replace.isError && <ProblemMessage error={replace.error} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button
          kind="primary"
          isDisabled={!file || !tag.data || replace.isPending}
          onPress={() => file && replace.mutate(file)}
        >
          Upload
        </Button>
      </div>
    </Dialog>
  );
}
