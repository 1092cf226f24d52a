/** Form of a webhook: its address, and which events of which pipelines it receives. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Schemas } from "../../api/client";
import { pipelinesQuery } from "../../features/documents/queries";
import { EVENT_GROUPS, EVENT_TYPES } from "../../features/operation/eventTypes";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Checkbox, TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";
import type { Webhook } from "./queries";
import "./webhooks.css";

interface WebhookDialogProps {
  title: string;
  action: string;
  /** The webhook to change; none for a new one. */
  webhook?: Webhook;
  onSave: (values: Required<Schemas["WebhookRequest"]>) => Promise<Webhook>;
  onDone: (webhook: Webhook) => void;
  onClose: () => void;
}

export function WebhookDialog({ title, action, webhook, onSave, onDone, onClose }: WebhookDialogProps) {
  const [url, setUrl] = useState(webhook?.url ?? "https://");
  const [types, setTypes] = useState<string[]>(webhook?.types ?? []);
  const [pipelines, setPipelines] = useState<string[]>(webhook?.pipelines ?? []);
  const save = useMutation({
    mutationFn: () => onSave({ url: url.trim(), types, pipelines }),
    onSuccess: (webhook) => {
      onClose();
      onDone(webhook);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog title={title} isOpen onClose={onClose} size="wide">
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Address"
          description="Events are sent to it by POST. The settings of the service decide which addresses are allowed."
          type="url"
          value={url}
          onChange={setUrl}
          isRequired
          autoFocus
        />
        <EventTypes selected={types} onChange={setTypes} />
        <Pipelines selected={pipelines} onChange={setPipelines} />
        {save.isError && <ProblemMessage error={save.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={save.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface SelectionProps {
  /** Empty: all. */
  selected: string[];
  onChange: (selected: string[]) => void;
}

function EventTypes({ selected, onChange }: SelectionProps) {
  return (
    <fieldset className="fieldset stack">
      <legend>Events</legend>
      <p className="muted">{selected.length === 0 ? "All events, since none is selected." : "Only these:"}</p>
      <div className="event-types">
        {EVENT_GROUPS.map((group) => (
          <div key={group} className="stack">
            {EVENT_TYPES.filter((row) => row.group === group).map((row) => (
              <Checkbox
                key={row.type}
                label={row.label}
                isSelected={selected.includes(row.type)}
                onChange={(isOn) => onChange(changed(selected, row.type, isOn))}
              />
            ))}
          </div>
        ))}
      </div>
    </fieldset>
  );
}

function Pipelines({ selected, onChange }: SelectionProps) {
  const pipelines = useQuery(pipelinesQuery);
  return (
    <fieldset className="fieldset stack">
      <legend>Pipelines</legend>
      <p className="muted">
        {selected.length === 0 ? "All pipelines, since none is selected." : "Only these:"}
      </p>
      <div className="row">
        {pipelines.data?.map((pipeline) => (
          <Checkbox
            key={pipeline.id}
            label={pipeline.name}
            isSelected={selected.includes(pipeline.id)}
            onChange={(isOn) => onChange(changed(selected, pipeline.id, isOn))}
          />
        ))}
      </div>
    </fieldset>
  );
}

function changed(items: string[], item: string, isOn: boolean): string[] {
  return isOn ? [...items, item] : items.filter((other) => other !== item);
}
