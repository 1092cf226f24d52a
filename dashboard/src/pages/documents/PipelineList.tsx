/** The pipelines with the numbers of their documents. */
import { useQuery } from "@tanstack/react-query";
import { FileStack, Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { pipelinePath } from "../../features/documents/links";
import { type Pipeline, pipelinesQuery } from "../../features/documents/queries";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { formatCount, formatNumber } from "../../ui/format";
import { Page } from "../../ui/Page";
import { QueryState } from "../../ui/QueryState";
import { Time } from "../../ui/Time";
import { CreatePipeline } from "./CreatePipeline";
import { PIPELINE_STATUSES } from "./pipelineStatus";

export function PipelineList() {
  const pipelines = useQuery({ ...pipelinesQuery, refetchInterval: 15_000 });
  const [isCreating, setCreating] = useState(false);
  const create = (
    <Button kind="primary" onPress={() => setCreating(true)}>
      <Plus size={16} aria-hidden /> New pipeline
    </Button>
  );
  return (
    <Page
      title="Documents"
      description="A pipeline is a collection of documents with its text splitter, embedding model and classifications."
      actions={create}
    >
      <QueryState query={pipelines} label="Pipelines" />
      {pipelines.data?.length === 0 && (
        <Empty icon={FileStack} title="There is no pipeline yet">
          <p>Create a pipeline and upload manuals, data sheets or procedures to ask questions about them.</p>
          {create}
        </Empty>
      )}
      <ul className="pipeline-list">
        {pipelines.data?.map((pipeline) => (
          <PipelineCard key={pipeline.id} pipeline={pipeline} />
        ))}
      </ul>
      {isCreating && <CreatePipeline pipelines={pipelines.data ?? []} onClose={() => setCreating(false)} />}
    </Page>
  );
}

function PipelineCard({ pipeline }: { pipeline: Pipeline }) {
  const { total, processing, failed } = pipeline.document_counts;
  const status = PIPELINE_STATUSES[pipeline.status];
  return (
    <li className="card pipeline-card">
      <div className="row">
        <h2 className="grow">
          <Link to={pipelinePath(pipeline.id)}>{pipeline.name}</Link>
        </h2>
        {pipeline.status !== "active" && <Badge tone={status.tone}>{status.label}</Badge>}
      </div>
      {pipeline.description && <p className="muted">{pipeline.description}</p>}
      <div className="row">
        <strong>{formatCount(total, "document")}</strong>
        {processing > 0 && <Badge tone="close">{formatNumber(processing)} in processing</Badge>}
        {failed > 0 && <Badge tone="danger">{formatNumber(failed)} failed</Badge>}
      </div>
      <dl className="facts">
        <dt>Classifications</dt>
        <dd>{pipeline.classifications.join(", ")}</dd>
        <dt>Text splitter</dt>
        <dd>{pipeline.text_splitter}</dd>
        <dt>Embedding model</dt>
        <dd>{pipeline.embedding_model}</dd>
        <dt>Updated</dt>
        <dd>
          <Time at={pipeline.updated_at} />
        </dd>
      </dl>
    </li>
  );
}
