/** Creates a pipeline in two steps: what it is, and how its documents are split, with a live preview. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { pipelinePath } from "../../features/documents/links";
import { embeddingModelsQuery, type Pipeline, textSplittersQuery } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/fields";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showSuccess } from "../../ui/toast";
import { classificationsOf } from "./classifications";
import { EmbeddingField } from "./EmbeddingField";
import type { SplitterChoice } from "./SplitterFields";
import { SplitterStep } from "./SplitterStep";
import { splitterErrors, splitterOf } from "./splitterForm";

interface CreatePipelineProps {
  /** The existing pipelines, whose names are taken. */
  pipelines: Pipeline[];
  onClose: () => void;
}

export function CreatePipeline({ pipelines, onClose }: CreatePipelineProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const models = useQuery(embeddingModelsQuery);
  const splitters = useQuery(textSplittersQuery);
  const [step, setStep] = useState<1 | 2>(1);
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [classifications, setClassifications] = useState("manual, datasheet");
  const [model, setModel] = useState("hash-512");
  const [choice, setChoice] = useState<SplitterChoice>({ name: "recursive_character", values: {} });
  const splitter = splitters.data?.find((splitter) => splitter.name === choice.name);
  const errors = splitter ? splitterErrors(splitter, choice.values) : {};
  const isNameTaken = pipelines.some((pipeline) => pipeline.name === name.trim());
  const isStepComplete = name.trim() !== "" && !isNameTaken && classificationsOf(classifications).length > 0;
  const create = useMutation({
    mutationFn: (body: Schemas["PipelineRequest"]) => data(api.POST("/api/pipelines", { body })),
    onSuccess: (pipeline) => {
      queries.invalidateQueries({ queryKey: ["pipelines"] });
      showSuccess(`The pipeline ${pipeline.name} is ready for documents.`);
      navigate(pipelinePath(pipeline.id));
    },
  });
  const submit = () => {
    if (step === 1) {
      if (isStepComplete) setStep(2);
    } else if (splitter && Object.keys(errors).length === 0) {
      create.mutate({
        name: name.trim(),
        ...(description.trim() === "" ? {} : { description: description.trim() }),
        classifications: classificationsOf(classifications),
        embedding_model: model,
        text_splitter: splitterOf(splitter, choice.values),
        metadata: {},
        policies: {},
      });
    }
  };
  return (
    <Dialog
      title={`New pipeline: ${step === 1 ? "what it contains" : "how documents are split"} (${step} of 2)`}
      isOpen
      size="wide"
      onClose={onClose}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {models.isError && <ProblemMessage error={models.error} />}
        {splitters.isError && <ProblemMessage error={splitters.error} />}
        {(!models.data || !splitters.data) && <Loading label="Models and splitters" />}
        {step === 1 && models.data && (
          <>
            <TextField
              label="Name"
              description="For example the unit of the plant."
              error={isNameTaken ? "A pipeline has this name." : undefined}
              value={name}
              onChange={setName}
              autoFocus
              isRequired
              maxLength={128}
            />
            <TextField label="Description" value={description} onChange={setDescription} />
            <TextField
              label="Classifications"
              description="Access labels of documents, separated by commas. Each document has one; API keys can be limited to some."
              value={classifications}
              onChange={setClassifications}
              isRequired
            />
            <EmbeddingField models={models.data} value={model} onChange={setModel} />
          </>
        )}
        {step === 2 && splitters.data && (
          <SplitterStep splitters={splitters.data} choice={choice} onChange={setChoice} model={model} />
        )}
        {create.isError && <ProblemMessage error={create.error} />}
        <div className="dialog-actions">
          {step === 2 ? (
            <Button onPress={() => setStep(1)}>Back</Button>
          ) : (
            <Button onPress={onClose}>Cancel</Button>
          )}
          <Button
            type="submit"
            kind="primary"
            isDisabled={step === 1 ? !isStepComplete : create.isPending || Object.keys(errors).length > 0}
          >
            {step === 1 ? "Next" : "Create the pipeline"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
