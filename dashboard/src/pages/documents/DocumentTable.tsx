/** The documents of a pipeline, with filters and what can be done with several of them. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { FileText, Trash2 } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { PROCESSING_REFRESH } from "../../features/documents/events";
import {
  type DocumentStatus,
  documentsQuery,
  nameWords,
  type Pipeline,
} from "../../features/documents/queries";
import { isProcessing } from "../../features/documents/status";
import { useDebounced } from "../../features/query/useDebounced";
import { Button } from "../../ui/Button";
import { DataTable } from "../../ui/DataTable";
import { Confirm } from "../../ui/Dialog";
import { Empty } from "../../ui/Empty";
import { formatCount, formatNumber } from "../../ui/format";
import { QueryState } from "../../ui/QueryState";
import { DocumentDialogs } from "./DocumentDialogs";
import { DocumentFilters } from "./DocumentFilters";
import type { DocumentAction } from "./documentAction";
import { documentColumns } from "./documentColumns";
import { useDocumentActions } from "./useDocumentActions";

/** Time without typing after which names are searched, in milliseconds. */
const TYPING = 200;

export function DocumentTable({ pipeline, isLive }: { pipeline: Pipeline; isLive: boolean }) {
  const [search] = useSearchParams();
  const classification = search.get("classification");
  const status = search.get("status") as DocumentStatus | null;
  const q = nameWords(useDebounced(search.get("name") ?? "", TYPING));
  const documents = useInfiniteQuery({
    ...documentsQuery(pipeline.id, {
      ...(classification ? { classification } : {}),
      ...(status ? { status } : {}),
      ...(q ? { q } : {}),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.data.some(isProcessing))
        ? PROCESSING_REFRESH[isLive ? "live" : "polled"]
        : false,
  });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [action, setAction] = useState<DocumentAction | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const actions = useDocumentActions(pipeline.id);

  const rows = documents.data?.pages.flatMap((page) => page.data) ?? [];
  const chosen = rows.filter((row) => selected.has(row.id));
  const isAllChosen = chosen.length === rows.length;
  const total = documents.data?.pages[0]?.total ?? rows.length;
  const columns = documentColumns({
    pipelineId: pipeline.id,
    actions,
    selected,
    onSelect: (id, isSelected) => setSelected((selected) => withMember(selected, id, isSelected)),
    onAction: setAction,
  });
  const remove = (ids: string[]) =>
    actions.remove.mutate(ids, {
      onSuccess: () => {
        setSelected(new Set());
        setDeleting(false);
      },
    });

  return (
    <section className="documents" aria-label="Documents">
      <div className="row">
        <DocumentFilters pipeline={pipeline} />
        <span className="grow" />
        {rows.length > 1 && (
          <Button
            kind="quiet"
            size="small"
            onPress={() => setSelected(new Set(isAllChosen ? [] : rows.map((row) => row.id)))}
          >
            {isAllChosen ? "Select none" : `Select all ${formatNumber(rows.length)}`}
          </Button>
        )}
        {chosen.length > 0 && (
          <Button kind="danger" size="small" onPress={() => setDeleting(true)}>
            <Trash2 size={14} aria-hidden /> Delete {formatCount(chosen.length, "document")}
          </Button>
        )}
        <span className="muted">
          {rows.length === total
            ? formatCount(total, "document")
            : `${formatNumber(rows.length)} of ${formatCount(total, "document")}`}
        </span>
      </div>
      <QueryState query={documents} label="Documents" />
      {documents.data && rows.length === 0 && <NoRows isFiltered={!!q || !!classification || !!status} />}
      {rows.length > 0 && (
        <DataTable
          label={`Documents of ${pipeline.name}`}
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          maxHeight="none"
        />
      )}
      {documents.hasNextPage && (
        <div className="row">
          <Button isDisabled={documents.isFetchingNextPage} onPress={() => documents.fetchNextPage()}>
            Show more documents
          </Button>
        </div>
      )}
      {isDeleting && (
        <Confirm
          title={`Delete ${formatCount(chosen.length, "document")}?`}
          isOpen
          action="Delete"
          isPending={actions.remove.isPending}
          onConfirm={() => remove(chosen.map((row) => row.id))}
          onClose={() => setDeleting(false)}
        >
          <p>
            The files, their chunks and the stored answers that cite them are deleted. This cannot be undone.
          </p>
        </Confirm>
      )}
      <DocumentDialogs pipeline={pipeline} action={action} onClose={() => setAction(null)} />
    </section>
  );
}

function NoRows({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty icon={FileText} title="No document matches the filters">
      <p>Clear a filter to see more documents.</p>
    </Empty>
  ) : (
    <Empty icon={FileText} title="There are no documents yet">
      <p>Drop files above. Each becomes searchable when it is ready, usually within seconds.</p>
    </Empty>
  );
}

function withMember(set: ReadonlySet<string>, member: string, isMember: boolean): ReadonlySet<string> {
  const copy = new Set(set);
  if (isMember) copy.add(member);
  else copy.delete(member);
  return copy;
}
