/** A pipeline: upload, and the table of its documents. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { FlaskConical, MessageCircleQuestion, MoreHorizontal } from "lucide-react";
import { useState } from "react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { api } from "../../api/client";
import { usePipelineEvents } from "../../features/documents/events";
import { askPath } from "../../features/documents/links";
import { type Pipeline, pipelineQuery } from "../../features/documents/queries";
import { Badge } from "../../ui/Badge";
import { Button, ButtonLink } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { formatCount } from "../../ui/format";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showError, showSuccess } from "../../ui/toast";
import { Breadcrumbs } from "./Breadcrumbs";
import { DocumentTable } from "./DocumentTable";
import { EditPipeline } from "./EditPipeline";
import { PIPELINE_STATUSES } from "./pipelineStatus";
import { ReindexPipeline } from "./ReindexPipeline";
import { ReindexProgress } from "./ReindexProgress";
import { UploadArea } from "./UploadArea";

type OpenDialog = "edit" | "reindex" | "delete" | null;

export function PipelineView() {
  const { pipelineId = "" } = useParams();
  const pipeline = useQuery(pipelineQuery(pipelineId));
  const isLive = usePipelineEvents(pipelineId);
  const [search, setSearch] = useSearchParams();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const operation = search.get("reindex");
  const setOperation = (id: string | null) =>
    setSearch(
      (search) => {
        if (id === null) search.delete("reindex");
        else search.set("reindex", id);
        return search;
      },
      { replace: true },
    );
  if (!pipeline.data) {
    return (
      <Page title="Documents">
        {pipeline.isError ? (
          <ProblemMessage error={pipeline.error} onRetry={() => pipeline.refetch()} />
        ) : (
          <Loading label="The pipeline" />
        )}
      </Page>
    );
  }
  const close = () => setDialog(null);
  return (
    <Page
      title={pipeline.data.name}
      description={<Breadcrumbs />}
      layout="full"
      actions={<PipelineActions pipeline={pipeline.data} onOpen={setDialog} />}
    >
      <PipelineState pipeline={pipeline.data} />
      {operation && <ReindexProgress operationId={operation} onClose={() => setOperation(null)} />}
      <UploadArea pipeline={pipeline.data} isLive={isLive} />
      <DocumentTable pipeline={pipeline.data} isLive={isLive} />
      {dialog === "edit" && <EditPipeline pipeline={pipeline.data} onClose={close} />}
      {dialog === "reindex" && (
        <ReindexPipeline
          pipeline={pipeline.data}
          onClose={close}
          onStart={({ id }) => {
            close();
            setOperation(id);
          }}
        />
      )}
      {dialog === "delete" && <DeletePipeline pipeline={pipeline.data} onClose={close} />}
    </Page>
  );
}

function PipelineState({ pipeline }: { pipeline: Pipeline }) {
  if (pipeline.status === "active") return null;
  const { label, tone, description } = PIPELINE_STATUSES[pipeline.status];
  return (
    <p className="row">
      <Badge tone={tone}>{label}</Badge> <span className="muted">{description}</span>
    </p>
  );
}

function PipelineActions({ pipeline, onOpen }: { pipeline: Pipeline; onOpen: (dialog: OpenDialog) => void }) {
  return (
    <>
      <ButtonLink href={askPath(pipeline.id)}>
        <MessageCircleQuestion size={16} aria-hidden /> Ask
      </ButtonLink>
      <ButtonLink href={`/search?pipeline=${encodeURIComponent(pipeline.id)}`}>
        <FlaskConical size={16} aria-hidden /> Search lab
      </ButtonLink>
      <MenuTrigger>
        <Button aria-label="More actions">
          <MoreHorizontal size={16} aria-hidden />
        </Button>
        <Popover className="popover">
          <Menu className="menu" onAction={(key) => onOpen(key as OpenDialog)}>
            <MenuItem id="edit" className="menu-item">
              Edit
            </MenuItem>
            <MenuItem id="reindex" className="menu-item">
              Reindex with another splitter or model
            </MenuItem>
            <MenuItem id="delete" className="menu-item danger-item">
              Delete the pipeline
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
    </>
  );
}

function DeletePipeline({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      api.DELETE("/api/pipelines/{pipeline_id}", {
        params: { path: { pipeline_id: pipeline.id }, query: { wait: true } },
      }),
    onSuccess: () => {
      navigate("/documents");
      queries.invalidateQueries({ queryKey: ["pipelines"] });
      showSuccess(`The pipeline ${pipeline.name} is deleted.`);
    },
    onError: showError,
  });
  return (
    <Confirm
      title={`Delete ${pipeline.name}?`}
      isOpen
      action="Delete the pipeline"
      isPending={remove.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        The pipeline is deleted with {formatCount(pipeline.document_counts.total, "document")}, their index
        and the stored answers that cite them. This cannot be undone.
      </p>
    </Confirm>
  );
}
