/** List of the OAuth clients: programs that get tokens with an id and a secret. */
import { useQuery } from "@tanstack/react-query";
import { Pause, Play, Plus, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { usePageCommand } from "../../features/frame/pageCommands";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Confirm } from "../../ui/Dialog";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { RowAction } from "../../ui/RowAction";
import { SecretDialog, type ShownSecret } from "../../ui/SecretDialog";
import { showError } from "../../ui/toast";
import { ClientDialog } from "./ClientDialog";
import {
  clientsQuery,
  type OAuthClient,
  useDeleteClient,
  useDisableClient,
  useRotateClient,
} from "./queries";

type Action = "toggle" | "rotate" | "delete";

export function Clients() {
  const clients = useQuery(clientsQuery);
  const [isCreating, setCreating] = useState(false);
  const [confirming, setConfirming] = useState<{ action: "rotate" | "delete"; client: OAuthClient } | null>(
    null,
  );
  const [shown, setShown] = useState<ShownSecret | null>(null);
  usePageCommand("Add a client", () => setCreating(true));
  const disable = useDisableClient();
  const rotate = useRotateClient();
  const remove = useDeleteClient();

  const onAction = (action: Action, client: OAuthClient) => {
    if (action === "toggle") {
      disable.mutate({ client_id: client.id, disabled: !client.disabled }, { onError: showError });
    } else {
      setConfirming({ action, client });
    }
  };
  const close = () => setConfirming(null);
  const confirm = () => {
    if (!confirming) return;
    const { action, client } = confirming;
    if (action === "delete") {
      remove.mutate(client.id, { onSuccess: close, onError: showError });
      return;
    }
    const onSuccess = (changed: OAuthClient) => {
      close();
      setShown({ title: "New secret", name: changed.id, secret: changed.secret ?? "" });
    };
    rotate.mutate(client.id, { onSuccess, onError: showError });
  };

  if (clients.isError) return <ProblemMessage error={clients.error} onRetry={() => clients.refetch()} />;
  return (
    <div className="stack">
      <div className="row">
        <Button kind="primary" onPress={() => setCreating(true)}>
          <Plus size={16} aria-hidden /> Add a client
        </Button>
      </div>
      {clients.data ? (
        <DataTable
          label="OAuth clients"
          columns={columns(onAction)}
          rows={clients.data}
          rowKey={(client) => client.id}
        />
      ) : (
        <Loading label="OAuth clients" />
      )}
      {isCreating && <ClientDialog onClose={() => setCreating(false)} onSecret={setShown} />}
      <Confirm
        title={confirming?.action === "rotate" ? "Replace the secret?" : "Delete this client?"}
        action={confirming?.action === "rotate" ? "Replace" : "Delete"}
        isOpen={confirming !== null}
        isPending={rotate.isPending || remove.isPending}
        onClose={close}
        onConfirm={confirm}
      >
        <p>
          {confirming?.action === "rotate"
            ? "Programs with the old secret get no new tokens; tokens that were issued stay valid until they expire."
            : "Its tokens end at once, and programs that use it get no new ones."}
        </p>
      </Confirm>
      <SecretDialog shown={shown} onClose={() => setShown(null)} />
    </div>
  );
}

function columns(onAction: (action: Action, client: OAuthClient) => void): TableColumn<OAuthClient>[] {
  return [
    { id: "id", header: "Id", value: (client) => client.id, cell: (client) => <strong>{client.id}</strong> },
    { id: "title", header: "Title", value: (client) => client.title },
    { id: "grants", header: "Grant types", value: (client) => client.grant_types.join(", ") },
    { id: "scopes", header: "Scopes", value: (client) => client.scopes.join(", ") },
    {
      id: "state",
      header: "State",
      value: (client) => (client.disabled ? "disabled" : "active"),
      cell: (client) => (
        <Badge tone={client.disabled ? "warning" : "success"}>
          {client.disabled ? "disabled" : "active"}
        </Badge>
      ),
    },
    {
      id: "actions",
      header: "Actions",
      align: "end",
      isUnsortable: true,
      value: () => null,
      cell: (client) =>
        client.shared ? (
          <span className="muted">by command only</span>
        ) : (
          <ClientActions client={client} onAction={onAction} />
        ),
    },
  ];
}

function ClientActions({
  client,
  onAction,
}: {
  client: OAuthClient;
  onAction: (action: Action, client: OAuthClient) => void;
}) {
  return (
    <span className="row-actions">
      <RowAction
        words={client.disabled ? "Enable" : "Disable"}
        subject={client.id}
        icon={client.disabled ? <Play size={16} aria-hidden /> : <Pause size={16} aria-hidden />}
        onPress={() => onAction("toggle", client)}
      />
      <RowAction
        words="Replace the secret"
        subject={`of ${client.id}`}
        icon={<RotateCw size={16} aria-hidden />}
        onPress={() => onAction("rotate", client)}
      />
      <RowAction
        words="Delete"
        subject={client.id}
        icon={<Trash2 size={16} aria-hidden />}
        onPress={() => onAction("delete", client)}
      />
    </span>
  );
}
