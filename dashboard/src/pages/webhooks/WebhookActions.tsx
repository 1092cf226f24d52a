/** Actions on a webhook. */
import { Pause, Pencil, Play, RotateCcwKey, Send, Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { SecretDialog, type ShownSecret } from "../../ui/SecretDialog";
import { showError, showSuccess } from "../../ui/toast";
import { useDeleteWebhook, usePatchWebhook, useRotateSecret, useTestWebhook, type Webhook } from "./queries";
import { WebhookDialog } from "./WebhookDialog";

export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const patch = usePatchWebhook(webhook.id);
  const [dialog, setDialog] = useState<"edit" | "rotate" | "delete" | null>(null);
  const close = () => setDialog(null);
  const isActive = webhook.status === "active";
  const setStatus = () => patch.mutate({ status: isActive ? "disabled" : "active" }, { onError: showError });
  return (
    <>
      <TestButton webhookId={webhook.id} />
      <Button onPress={setStatus} isDisabled={patch.isPending}>
        {isActive ? <Pause size={15} aria-hidden /> : <Play size={15} aria-hidden />}
        {isActive ? "Disable" : "Enable"}
      </Button>
      <Button onPress={() => setDialog("edit")}>
        <Pencil size={15} aria-hidden /> Edit
      </Button>
      <Button onPress={() => setDialog("rotate")}>
        <RotateCcwKey size={15} aria-hidden /> Rotate secret
      </Button>
      <Button kind="danger" onPress={() => setDialog("delete")}>
        <Trash2 size={15} aria-hidden /> Delete
      </Button>
      {dialog === "edit" && (
        <WebhookDialog
          title="Edit the webhook"
          action="Save"
          webhook={webhook}
          onSave={patch.mutateAsync}
          onDone={() => showSuccess("Saved.")}
          onClose={close}
        />
      )}
      <Rotate webhook={webhook} isOpen={dialog === "rotate"} onClose={close} />
      <Delete webhook={webhook} isOpen={dialog === "delete"} onClose={close} />
    </>
  );
}

function TestButton({ webhookId }: { webhookId: string }) {
  const test = useTestWebhook(webhookId);
  const run = () =>
    test.mutate(undefined, {
      onSuccess: ({ delivered, status, error, latency_ms }) =>
        delivered
          ? showSuccess(`The webhook accepted a test event in ${latency_ms} ms.`)
          : showError(error ?? `The webhook responded with status ${status}.`),
      onError: showError,
    });
  return (
    <Button onPress={run} isDisabled={test.isPending}>
      <Send size={15} aria-hidden /> {test.isPending ? "Sending" : "Send a test"}
    </Button>
  );
}

interface ActionProps {
  webhook: Webhook;
  isOpen: boolean;
  onClose: () => void;
}

function Rotate({ webhook, isOpen, onClose }: ActionProps) {
  const rotate = useRotateSecret(webhook.id);
  const [secret, setSecret] = useState<ShownSecret | null>(null);
  const run = () =>
    rotate.mutate(undefined, {
      onSuccess: ({ secret }) => {
        onClose();
        setSecret({ title: "New signing secret", name: webhook.url, secret: secret ?? "" });
      },
      onError: showError,
    });
  return (
    <>
      <Confirm
        title="Rotate the secret?"
        action="Rotate"
        isOpen={isOpen}
        isPending={rotate.isPending}
        onConfirm={run}
        onClose={onClose}
      >
        <p>For a day, deliveries are signed with both secrets; then with the new one only.</p>
      </Confirm>
      <SecretDialog shown={secret} onClose={() => setSecret(null)} />
    </>
  );
}

function Delete({ webhook, isOpen, onClose }: ActionProps) {
  const remove = useDeleteWebhook(webhook.id);
  const navigate = useNavigate();
  const run = () => remove.mutate(undefined, { onSuccess: () => navigate("/webhooks"), onError: showError });
  return (
    <Confirm
      title="Delete this webhook?"
      action="Delete"
      isOpen={isOpen}
      isPending={remove.isPending}
      onConfirm={run}
      onClose={onClose}
    >
      <p>
        <strong>{webhook.url}</strong> receives no more events, not even those that wait for a retry.
      </p>
    </Confirm>
  );
}
