/** Uploads a drawing by drag and drop or from a file dialog, and lists what was not read unchanged. */
import { Upload } from "lucide-react";
import { useState } from "react";
import { DropZone, FileTrigger } from "react-aria-components";
import { useNavigate } from "react-router";
import { Button } from "../../ui/Button";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { singleFile } from "./drawingFiles";
import { FileSetDialog } from "./FileSetDialog";
import { FILE_ENDINGS } from "./formats";
import { UploadResult } from "./UploadResult";
import { uploadText, useDrawingUpload } from "./useDrawingUpload";

export function UploadDrawing() {
  const navigate = useNavigate();
  const [isSetOpen, setSetOpen] = useState(false);
  const { upload, sent } = useDrawingUpload({
    onStored: (result) => {
      setSetOpen(false);
      if (result.findings.length === 0) navigate(`/drawings/${encodeURIComponent(result.job_id)}`);
    },
  });
  const send = (file: File) => upload.mutate(singleFile(file));
  return (
    <>
      <DropZone
        className="upload-area"
        aria-label="Drop a drawing here"
        onDrop={async (event) => {
          const item = event.items.find((item) => item.kind === "file");
          if (item?.kind === "file") send(await item.getFile());
        }}
      >
        <Upload size={18} aria-hidden />
        <span className="grow">
          Drop a drawing here: DEXPI, Proteus, GraphML, SFILES or JSON. It is stored under the id that the
          file states, or under its name; an existing id gets a new version.
        </span>
        {upload.isPending && <progress aria-label="Upload" value={sent.bytes} max={sent.size || 1} />}
        <Button isDisabled={upload.isPending} onPress={() => setSetOpen(true)}>
          Several files …
        </Button>
        <FileTrigger acceptedFileTypes={FILE_ENDINGS} onSelect={(files) => files?.[0] && send(files[0])}>
          <Button isDisabled={upload.isPending}>{uploadText("Choose a file", upload.isPending, sent)}</Button>
        </FileTrigger>
      </DropZone>
      {isSetOpen && (
        <FileSetDialog
          isPending={upload.isPending}
          error={upload.error}
          onUpload={upload.mutate}
          onClose={() => setSetOpen(false)}
        />
      )}
      {upload.isError && !isSetOpen && <ProblemMessage error={upload.error} />}
      {upload.isSuccess && upload.data.findings.length > 0 && (
        <UploadResult result={upload.data} onClose={() => upload.reset()} />
      )}
    </>
  );
}
