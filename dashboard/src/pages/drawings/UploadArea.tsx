/** Uploads drawings by drag and drop or from a file dialog. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import { DropZone, FileTrigger } from "react-aria-components";
import { useNavigate } from "react-router";
import { idOfFile, uploadGraph } from "../../features/drawing/queries";
import { Button } from "../../ui/Button";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showSuccess } from "../../ui/toast";

export function UploadArea() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const upload = useMutation({
    mutationFn: async (file: File) => {
      if (!/\.json$/i.test(file.name)) {
        throw new Error(`${file.name} is not a JSON file. Convert Proteus, DEXPI and GraphML to JSON first.`);
      }
      const id = idOfFile(file.name);
      await uploadGraph(id, file);
      return id;
    },
    onSuccess: async (id) => {
      showSuccess(`${id} is stored`);
      await queries.invalidateQueries({ queryKey: ["graphs"] });
      await queries.invalidateQueries({ queryKey: ["graph", id] });
      navigate(`/drawings/${encodeURIComponent(id)}`);
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
          Drop a graph as JSON here. The name of the file becomes its id; an existing id gets a new version.
        </span>
        <FileTrigger
          acceptedFileTypes={["application/json", ".json"]}
          onSelect={(files) => files?.[0] && upload.mutate(files[0])}
        >
          <Button isDisabled={upload.isPending}>{upload.isPending ? "Uploading …" : "Choose a file"}</Button>
        </FileTrigger>
      </DropZone>
      {upload.isError && <ProblemMessage error={upload.error} />}
    </>
  );
}
