/** The page "API keys": keys of programs for the document platform. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client";
import { accessText } from "../../features/access/accessRules";
import { usePageCommand } from "../../features/frame/pageCommands";
import { type ApiKey, keysQuery } from "../../features/operation/queries";
import { type Names, useNames } from "../../features/operation/useNames";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Confirm } from "../../ui/Dialog";
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { QueryState } from "../../ui/QueryState";
import { RowAction } from "../../ui/RowAction";
import { SecretDialog, type ShownSecret } from "../../ui/SecretDialog";
import { Time } from "../../ui/Time";
import { showError } from "../../ui/toast";
import { KeyDialog } from "./KeyDialog";

export default function KeysPage() {
  const queries = useQueryClient();
  const keys = useQuery(keysQuery);
  const names = useNames();
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<ApiKey | null>(null);
  const [shown, setShown] = useState<ShownSecret | null>(null);
  usePageCommand("Create a key", () => setCreating(true));
  const remove = useMutation({
    mutationFn: (key_id: string) => api.DELETE("/api/keys/{key_id}", { params: { path: { key_id } } }),
    onSuccess: () => {
      setDeleting(null);
      return queries.invalidateQueries({ queryKey: keysQuery.queryKey });
    },
    onError: showError,
  });
  return (
    <Page
      title="API keys"
      description="Keys with which programs use the document platform."
      actions={
        <Button kind="primary" onPress={() => setCreating(true)}>
          <Plus size={16} aria-hidden /> Create a key
        </Button>
      }
    >
      <QueryState query={keys} label="API keys" />
      {keys.data?.length === 0 && (
        <Empty icon={KeyRound} title="No API keys">
          <p>Create one for each program that reads or writes documents.</p>
        </Empty>
      )}
      {keys.data && keys.data.length > 0 && (
        <DataTable
          label="API keys"
          columns={columns(names, setDeleting)}
          rows={keys.data}
          rowKey={(key) => key.id}
        />
      )}
      {isCreating && <KeyDialog onClose={() => setCreating(false)} onSecret={setShown} />}
      <Confirm
        title="Delete this key?"
        action="Delete"
        isOpen={deleting !== null}
        isPending={remove.isPending}
        onClose={() => setDeleting(null)}
        onConfirm={() => deleting && remove.mutate(deleting.id)}
      >
        <p>
          Programs that use <strong>{deleting?.name}</strong> are refused at once.
        </p>
      </Confirm>
      <SecretDialog shown={shown} onClose={() => setShown(null)} />
    </Page>
  );
}

function columns(names: Names, onDelete: (key: ApiKey) => void): TableColumn<ApiKey>[] {
  return [
    { id: "name", header: "Name", value: (key) => key.name, cell: (key) => <strong>{key.name}</strong> },
    { id: "scopes", header: "Scopes", value: (key) => key.scopes.join(", ") },
    {
      id: "access",
      header: "Access",
      value: (key) => accessText(key.pipelines, names.pipeline),
    },
    {
      id: "created",
      header: "Created",
      value: (key) => key.created_at,
      cell: (key) => <Time at={key.created_at} />,
    },
    {
      id: "expires",
      header: "Expires",
      value: (key) => key.expires_at,
      cell: (key) => (key.expires_at ? <Time at={key.expires_at} /> : "never"),
    },
    {
      id: "actions",
      header: "Actions",
      align: "end",
      isUnsortable: true,
      value: () => null,
      cell: (key) => (
        <span className="row-actions">
          <RowAction
            words="Delete"
            subject={key.name}
            icon={<Trash2 size={16} aria-hidden />}
            onPress={() => onDelete(key)}
          />
        </span>
      ),
    },
  ];
}
