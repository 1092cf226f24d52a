/** Changes the name, description and classifications of a pipeline, and the defaults of its searches. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import type { Pipeline } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Select, TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showSuccess } from "../../ui/toast";
import { classificationsOf } from "./classifications";

const SERVICE_DEFAULT = "default";
const MODES = [
  { id: SERVICE_DEFAULT, label: "Default of the service (hybrid)" },
  { id: "hybrid", label: "Hybrid", description: "Words and vectors" },
  { id: "dense", label: "Dense", description: "Vectors only" },
  { id: "sparse", label: "BM25", description: "Words only" },
];

export function EditPipeline({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(pipeline.name);
  const [description, setDescription] = useState(pipeline.description ?? "");
  const [classifications, setClassifications] = useState(pipeline.classifications.join(", "));
  const [mode, setMode] = useState<string>(pipeline.retrieval.mode ?? SERVICE_DEFAULT);
  const save = useMutation({
    mutationFn: (body: Schemas["PipelinePatch"]) =>
      data(
        api.PATCH("/api/pipelines/{pipeline_id}", { params: { path: { pipeline_id: pipeline.id } }, body }),
      ),
    onSuccess: () => {
      queries.invalidateQueries({ queryKey: ["pipelines"] });
      showSuccess("The pipeline is saved.");
      onClose();
    },
  });
  const submit = () =>
    save.mutate({
      name: name.trim(),
      description: description.trim() === "" ? null : description.trim(),
      classifications: classificationsOf(classifications),
      retrieval: {
        ...pipeline.retrieval,
        mode: mode === SERVICE_DEFAULT ? null : (mode as Schemas["SearchMode"]),
      },
    });
  return (
    <Dialog title="Edit the pipeline" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField label="Name" value={name} onChange={setName} isRequired maxLength={128} autoFocus />
        <TextField label="Description" value={description} onChange={setDescription} />
        <TextField
          label="Classifications"
          description="Separated by commas. A classification with documents cannot be removed."
          value={classifications}
          onChange={setClassifications}
          isRequired
        />
        <Select label="Search mode of questions" choices={MODES} value={mode} onChange={setMode} />
        {save.isError && <ProblemMessage error={save.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isDisabled={save.isPending || name.trim() === ""}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
