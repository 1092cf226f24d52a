/** Uploads a file as the next version of a drawing. */
import { Upload } from "lucide-react";
import { FileTrigger } from "react-aria-components";
import { Button } from "../../ui/Button";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { singleFile } from "./drawingFiles";
import { FILE_ENDINGS } from "./formats";
import { uploadText, useDrawingUpload } from "./useDrawingUpload";

export function UploadVersion({ graphId }: { graphId: string }) {
  const { upload, sent } = useDrawingUpload();
  return (
    <>
      <FileTrigger
        acceptedFileTypes={FILE_ENDINGS}
        onSelect={(files) => files?.[0] && upload.mutate(singleFile(files[0], graphId))}
      >
        <Button size="small" isDisabled={upload.isPending}>
          <Upload size={14} aria-hidden /> {uploadText("Upload a new version", upload.isPending, sent)}
        </Button>
      </FileTrigger>
      {upload.isError && <ProblemMessage error={upload.error} />}
    </>
  );
}
