/** The page "Models": connections to language models. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Cable, PlugZap, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, data } from "../../api/client";
import { connectionsQuery, type LlmConnection } from "../../features/documents/queries";
import { Button, IconButton } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Confirm } from "../../ui/Dialog";
import { Empty } from "../../ui/Empty";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showError } from "../../ui/toast";
import { ConnectionDialog } from "./ConnectionDialog";
import { ConnectionTest } from "./ConnectionTest";

type Open = { kind: "create" } | { kind: "delete"; connection: LlmConnection } | null;

export default function ConnectionsPage() {
  const queries = useQueryClient();
  const connections = useQuery(connectionsQuery);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const remove = useMutation({
    mutationFn: (connection_id: string) =>
      api.DELETE("/api/llm-connections/{connection_id}", { params: { path: { connection_id } } }),
    onSuccess: () => {
      close();
      return queries.invalidateQueries({ queryKey: connectionsQuery.queryKey });
    },
    onError: showError,
  });
  const test = useMutation({
    mutationFn: (connection: LlmConnection) =>
      data(
        api.POST("/api/llm-connections/{connection_id}/test", {
          params: { path: { connection_id: connection.id } },
        }),
      ),
  });
  const list = connections.data ?? [];
  return (
    <Page
      title="Models"
      description="Language models that answer questions. Without one, answers are quotes from the documents."
      actions={
        <Button kind="primary" onPress={() => setOpen({ kind: "create" })}>
          <Plus size={16} aria-hidden /> Add a model
        </Button>
      }
    >
      {connections.isPending && <Loading label="Models" />}
      {connections.isError && (
        <ProblemMessage error={connections.error} onRetry={() => connections.refetch()} />
      )}
      {connections.data && list.length === 0 && (
        <Empty icon={Cable} title="No model yet">
          <p>Add any server with an OpenAI-compatible API: in the cloud, or on your own machine.</p>
        </Empty>
      )}
      {list.length > 0 && (
        <DataTable
          label="Models"
          columns={columns(test.mutate, (connection) => setOpen({ kind: "delete", connection }))}
          rows={list}
          rowKey={(connection) => connection.id}
        />
      )}
      <ConnectionTest
        name={test.variables?.name ?? ""}
        isPending={test.isPending}
        result={test.data ?? null}
        error={test.error}
      />
      {open?.kind === "create" && <ConnectionDialog onClose={close} />}
      <Confirm
        title="Delete this model?"
        action="Delete"
        isOpen={open?.kind === "delete"}
        isPending={remove.isPending}
        onClose={close}
        onConfirm={() => open?.kind === "delete" && remove.mutate(open.connection.id)}
      >
        <p>Questions can no longer be answered by {open?.kind === "delete" && open.connection.name}.</p>
      </Confirm>
    </Page>
  );
}

function columns(
  onTest: (connection: LlmConnection) => void,
  onDelete: (connection: LlmConnection) => void,
): TableColumn<LlmConnection>[] {
  return [
    { id: "name", header: "Name", value: (row) => row.name, cell: (row) => <strong>{row.name}</strong> },
    { id: "model", header: "Model", value: (row) => row.model },
    {
      id: "url",
      header: "Base URL",
      value: (row) => row.base_url,
      cell: (row) => <code>{row.base_url}</code>,
    },
    { id: "window", header: "Context window", value: (row) => row.context_window, align: "end" },
    {
      id: "actions",
      header: "Actions",
      align: "end",
      isUnsortable: true,
      value: () => null,
      cell: (row) => (
        <>
          <IconButton label={`Test ${row.name}`} onPress={() => onTest(row)}>
            <PlugZap size={16} />
          </IconButton>
          <IconButton label={`Delete ${row.name}`} onPress={() => onDelete(row)}>
            <Trash2 size={16} />
          </IconButton>
        </>
      ),
    },
  ];
}
