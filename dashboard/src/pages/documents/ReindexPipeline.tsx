/** Reindexes a pipeline with another text splitter or embedding model, after a preview of the chunks. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import {
  documentsQuery,
  embeddingModelsQuery,
  type Pipeline,
  textSplittersQuery,
} from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { EmbeddingField } from "./EmbeddingField";
import type { SplitterChoice } from "./SplitterFields";
import { SplitterStep } from "./SplitterStep";
import { splitterErrors, splitterOf, splitterValues } from "./splitterForm";

interface ReindexPipelineProps {
  pipeline: Pipeline;
  onStart: (operation: Schemas["Operation"]) => void;
  onClose: () => void;
}

/** Documents that the preview offers. */
const DOCUMENTS = 30;

export function ReindexPipeline({ pipeline, onStart, onClose }: ReindexPipelineProps) {
  const queries = useQueryClient();
  const models = useQuery(embeddingModelsQuery);
  const splitters = useQuery(textSplittersQuery);
  const documents = useInfiniteQuery(documentsQuery(pipeline.id, { status: "ready" }));
  const [model, setModel] = useState(pipeline.embedding_model);
  const [chosen, setChosen] = useState<SplitterChoice | null>(null);
  const current = splitters.data?.find((splitter) => splitter.name === pipeline.text_splitter);
  const choice = chosen ?? {
    name: pipeline.text_splitter,
    values: current ? splitterValues(current, pipeline.text_splitter_params) : {},
  };
  const splitter = splitters.data?.find((splitter) => splitter.name === choice.name);
  const hasErrors = splitter ? Object.keys(splitterErrors(splitter, choice.values)).length > 0 : true;
  const start = useMutation({
    mutationFn: (body: Schemas["ReindexRequest"]) =>
      data(
        api.POST("/api/pipelines/{pipeline_id}/reindex", {
          params: { path: { pipeline_id: pipeline.id } },
          body,
        }),
      ),
    onSuccess: (operation) => {
      queries.invalidateQueries({ queryKey: ["pipelines"] });
      onStart(operation);
    },
  });
  const submit = () => {
    if (!splitter || hasErrors) return;
    start.mutate({
      ...(model === pipeline.embedding_model ? {} : { embedding_model: model }),
      text_splitter: splitterOf(splitter, choice.values),
    });
  };
  return (
    <Dialog title="Reindex the pipeline" isOpen size="wide" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <p className="muted">
          All documents are split and embedded again. Searches use the old index until the new one is
          complete.
        </p>
        {(!models.data || !splitters.data) && <Loading label="Models and splitters" />}
        {models.data && <EmbeddingField models={models.data} value={model} onChange={setModel} />}
        {splitters.data && (
          <SplitterStep
            splitters={splitters.data}
            choice={choice}
            onChange={setChosen}
            model={model}
            documents={documents.data?.pages[0]?.data.slice(0, DOCUMENTS) ?? []}
          />
        )}
        {start.isError && <ProblemMessage error={start.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isDisabled={start.isPending || hasErrors}>
            Reindex
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
