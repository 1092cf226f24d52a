/** The webhooks, and the creation of one. */
import { useQuery } from "@tanstack/react-query";
import { Plus, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { usePageCommand } from "../../features/frame/pageCommands";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { formatCount } from "../../ui/format";
import { Page } from "../../ui/Page";
import { QueryState } from "../../ui/QueryState";
import { SecretDialog, type ShownSecret } from "../../ui/SecretDialog";
import { Time } from "../../ui/Time";
import { useCreateWebhook, type Webhook, webhooksQuery } from "./queries";
import { WebhookDialog } from "./WebhookDialog";
import { WebhookStateBadge } from "./WebhookStateBadge";

export function WebhookList() {
  const webhooks = useQuery(webhooksQuery);
  const create = useCreateWebhook();
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<ShownSecret | null>(null);
  usePageCommand("Create a webhook", () => setCreating(true));
  return (
    <Page
      title="Webhooks"
      description="Addresses that the platform sends events to, signed according to Standard Webhooks."
      actions={
        <Button kind="primary" onPress={() => setCreating(true)}>
          <Plus size={16} aria-hidden /> Create a webhook
        </Button>
      }
    >
      <QueryState query={webhooks} label="Webhooks" />
      {webhooks.data?.length === 0 && (
        <Empty icon={WebhookIcon} title="No webhooks">
          <p>Create one, and a program of yours learns at once when a document is ready or failed.</p>
        </Empty>
      )}
      {webhooks.data && webhooks.data.length > 0 && (
        <DataTable label="Webhooks" columns={COLUMNS} rows={webhooks.data} rowKey={(webhook) => webhook.id} />
      )}
      {isCreating && (
        <WebhookDialog
          title="Create a webhook"
          action="Create"
          onSave={create.mutateAsync}
          onDone={({ secret, url }) =>
            setSecret({ title: "Signing secret", name: url, secret: secret ?? "" })
          }
          onClose={() => setCreating(false)}
        />
      )}
      <SecretDialog shown={secret} onClose={() => setSecret(null)} />
    </Page>
  );
}

const COLUMNS: TableColumn<Webhook>[] = [
  {
    id: "url",
    header: "Address",
    value: (webhook) => webhook.url,
    cell: (webhook) => <Link to={`/webhooks/${webhook.id}`}>{webhook.url}</Link>,
  },
  {
    id: "state",
    header: "State",
    value: (webhook) => webhook.status,
    cell: (webhook) => <WebhookStateBadge webhook={webhook} />,
  },
  {
    id: "types",
    header: "Events",
    value: ({ types }) => (types.length === 0 ? "all" : formatCount(types.length, "type")),
  },
  {
    id: "pipelines",
    header: "Pipelines",
    value: ({ pipelines }) => (pipelines.length === 0 ? "all" : formatCount(pipelines.length, "pipeline")),
  },
  {
    id: "created",
    header: "Created",
    value: (webhook) => webhook.created_at,
    cell: (webhook) => <Time at={webhook.created_at} />,
  },
];
