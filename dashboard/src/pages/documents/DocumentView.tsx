/** A document beside its chunks: a click on a chunk marks its place, and a click on a place selects its chunk. */
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { PROCESSING_REFRESH, usePipelineEvents } from "../../features/documents/events";
import { pipelinePath } from "../../features/documents/links";
import {
  chunksQuery,
  documentPath,
  documentQuery,
  type Pipeline,
  type PlatformDocument,
  pipelineQuery,
} from "../../features/documents/queries";
import { StatusBadge } from "../../features/documents/StatusBadge";
import { Badge } from "../../ui/Badge";
import { ButtonLink } from "../../ui/Button";
import { formatBytes, formatCount } from "../../ui/format";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { QueryState } from "../../ui/QueryState";
import { Time } from "../../ui/Time";
import { Attachments, MailOfAttachment } from "./Attachments";
import { Breadcrumbs } from "./Breadcrumbs";
import { ChunkList } from "./ChunkList";
import { DocumentDialogs } from "./DocumentDialogs";
import { DocumentFailure, RetryButton } from "./DocumentFailure";
import { DocumentMenu } from "./DocumentMenu";
import type { DocumentAction } from "./documentAction";
import { OriginalView } from "./OriginalView";
import { selectionOf } from "./selection";
import { useDocumentActions } from "./useDocumentActions";

export function DocumentView() {
  const { pipelineId = "", documentId = "" } = useParams();
  const isLive = usePipelineEvents(pipelineId);
  const pipeline = useQuery(pipelineQuery(pipelineId));
  const document = useQuery({
    ...documentQuery(pipelineId, documentId),
    refetchInterval: ({ state }) =>
      state.data && !state.data.terminal ? PROCESSING_REFRESH[isLive ? "live" : "polled"] : false,
  });
  const error = document.error ?? pipeline.error;
  if (document.data && pipeline.data)
    return <LoadedDocument key={documentId} pipeline={pipeline.data} document={document.data} />;
  return (
    <Page title="Document" description={<Breadcrumbs />}>
      {error ? (
        <ProblemMessage
          error={error}
          onRetry={() => {
            document.refetch();
            pipeline.refetch();
          }}
        />
      ) : (
        <Loading label="The document" />
      )}
    </Page>
  );
}

function LoadedDocument({ pipeline, document }: { pipeline: Pipeline; document: PlatformDocument }) {
  const navigate = useNavigate();
  const [search, setSearch] = useSearchParams();
  const [action, setAction] = useState<DocumentAction | null>(null);
  const actions = useDocumentActions(pipeline.id);
  const chunks = useQuery(chunksQuery(pipeline.id, document.id, document.searchable_revision));
  const selection = useMemo(() => selectionOf(search, chunks.data ?? []), [search, chunks.data]);
  const select = (index: number) => setSearch({ chunk: String(index) }, { replace: true });
  return (
    <Page
      title={document.filename}
      description={<Breadcrumbs pipeline={pipeline} />}
      layout="full"
      actions={
        <>
          <ButtonLink href={`${documentPath(pipeline.id, document.id)}/content`} download={document.filename}>
            <Download size={16} aria-hidden /> Download
          </ButtonLink>
          <DocumentMenu document={document} actions={actions} onAction={setAction} />
        </>
      }
    >
      <DocumentFacts document={document} />
      <DocumentNotices document={document} actions={actions} onAction={setAction} />
      <Attachments mail={document} />
      {document.searchable && (
        <div className="document-view">
          <OriginalView
            document={document}
            chunks={chunks.data ?? []}
            selection={selection}
            onSelect={select}
          />
          <section className="chunk-panel" aria-label="Chunks">
            <QueryState query={chunks} label="Chunks" />
            {chunks.data && (
              <ChunkList chunks={chunks.data} selected={selection.chunk?.index ?? null} onSelect={select} />
            )}
          </section>
        </div>
      )}
      <DocumentDialogs
        pipeline={pipeline}
        action={action}
        onClose={() => setAction(null)}
        onDeleted={() => navigate(pipelinePath(pipeline.id))}
      />
    </Page>
  );
}

function DocumentFacts({ document }: { document: PlatformDocument }) {
  const { page_count, chunk_count, revision, searchable_revision } = document;
  return (
    <div className="row document-facts">
      <StatusBadge document={document} />
      <Badge>{document.classification}</Badge>
      {document.parent_id !== null && (
        <MailOfAttachment pipelineId={document.pipeline_id} mailId={document.parent_id} />
      )}
      <span>{formatBytes(document.size)}</span>
      {page_count !== null && <span>{formatCount(page_count, "page")}</span>}
      {chunk_count !== null && <span>{formatCount(chunk_count, "chunk")}</span>}
      <span>
        Revision {revision}
        {searchable_revision !== null &&
          searchable_revision !== revision &&
          `, searches use revision ${searchable_revision}`}
      </span>
      <span>
        Updated <Time at={document.updated_at} />
      </span>
    </div>
  );
}

interface DocumentNoticesProps {
  document: PlatformDocument;
  actions: ReturnType<typeof useDocumentActions>;
  onAction: (action: DocumentAction) => void;
}

function DocumentNotices({ document, actions, onAction }: DocumentNoticesProps) {
  const { error, warnings, status } = document;
  return (
    <>
      {status !== "ready" && <DocumentFailure document={document} actions={actions} onAction={onAction} />}
      {status === "cancelled" && !error && (
        <p className="row">
          Processing was cancelled. <RetryButton document={document} actions={actions} />
        </p>
      )}
      {!document.terminal && <p className="muted">The document becomes searchable when it is ready.</p>}
      {warnings.length > 0 && (
        <details className="warnings">
          <summary>{formatCount(warnings.length, "warning")} of the extraction</summary>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
