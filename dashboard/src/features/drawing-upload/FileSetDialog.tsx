/** Uploads a drawing in several files, such as its nodes and its edges as CSV. */
import { useState } from "react";
import { FileTrigger } from "react-aria-components";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Select, TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { type DrawingFiles, fileSet } from "./drawingFiles";
import { FILE_SETS, type FileSet } from "./formats";

interface FileSetDialogProps {
  isPending: boolean;
  error: unknown;
  onUpload: (files: DrawingFiles) => void;
  onClose: () => void;
}

export function FileSetDialog({ isPending, error, onUpload, onClose }: FileSetDialogProps) {
  const [set, setSet] = useState<FileSet | undefined>(FILE_SETS[0]);
  const [id, setId] = useState("");
  const [files, setFiles] = useState<ReadonlyMap<string, File>>(new Map());
  const isComplete = set?.parts.every(({ part }) => files.has(part)) && id.trim() !== "";
  return (
    <Dialog title="A drawing in several files" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (set && isComplete) onUpload(fileSet(set, files, id.trim()));
        }}
      >
        <TextField
          label="Id"
          description="The drawing is stored under this id; an existing one gets a new version."
          value={id}
          onChange={setId}
          autoFocus
        />
        <Select
          label="Format"
          choices={FILE_SETS}
          value={set?.id ?? null}
          onChange={(id) => {
            setSet(FILE_SETS.find((row) => row.id === id));
            setFiles(new Map());
          }}
        />
        {set?.parts.map(({ part, label }) => (
          <FileField
            key={`${set.id} ${part}`}
            label={label}
            ending={part.slice(part.lastIndexOf("."))}
            file={files.get(part)}
            onChoose={(file) => setFiles(new Map(files).set(part, file))}
          />
        ))}
        {error !== null && <ProblemMessage error={error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={!isComplete || isPending}>
            {isPending ? "Uploading …" : "Upload"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface FileFieldProps {
  label: string;
  ending: string;
  file: File | undefined;
  onChoose: (file: File) => void;
}

function FileField({ label, ending, file, onChoose }: FileFieldProps) {
  return (
    <div className="row">
      <FileTrigger acceptedFileTypes={[ending]} onSelect={(files) => files?.[0] && onChoose(files[0])}>
        <Button>{label} …</Button>
      </FileTrigger>
      <span className="muted">{file?.name ?? `No file (${ending})`}</span>
    </div>
  );
}
