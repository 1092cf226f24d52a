/** A language model: where it is, and whether it responds. */
import { useMutation } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { api, data } from "../../api/client";
import type { LlmConnection } from "../../features/documents/queries";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { formatCount, formatNumber } from "../../ui/format";
import { Time } from "../../ui/Time";
import { EgressHelp } from "./EgressHelp";

interface ConnectionCardProps {
  connection: LlmConnection;
  onEdit: () => void;
  onDelete: () => void;
}

export function ConnectionCard({ connection, onEdit, onDelete }: ConnectionCardProps) {
  const { id, name, model, base_url, context_window, extra_headers, updated_at } = connection;
  const test = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/llm-connections/{connection_id}/test", { params: { path: { connection_id: id } } }),
      ),
  });
  return (
    <li className="card connection">
      <div className="row">
        <h2 className="grow">{name}</h2>
        <Button size="small" isDisabled={test.isPending} onPress={() => test.mutate()}>
          {test.isPending ? "Testing" : "Test"}
        </Button>
        <Button size="small" onPress={onEdit}>
          Edit
        </Button>
        <Button size="small" kind="danger" onPress={onDelete}>
          Delete
        </Button>
      </div>
      <dl className="facts">
        <dt>Model</dt>
        <dd>{model}</dd>
        <dt>Base URL</dt>
        <dd>
          <code>{base_url}</code>
        </dd>
        <dt>API key</dt>
        <dd className="muted">stored; it cannot be read back</dd>
        {context_window !== null && (
          <>
            <dt>Context window</dt>
            <dd>{formatCount(context_window, "token")}</dd>
          </>
        )}
        {extra_headers.length > 0 && (
          <>
            <dt>Headers</dt>
            <dd>{extra_headers.join(", ")}</dd>
          </>
        )}
        <dt>Updated</dt>
        <dd>
          <Time at={updated_at} />
        </dd>
      </dl>
      {test.isError && <EgressHelp error={test.error} />}
      {test.data && <TestOutcome latency={test.data.latency_ms} models={test.data.models} model={model} />}
    </li>
  );
}

function TestOutcome({ latency, models, model }: { latency: number; models: string[]; model: string }) {
  return (
    <div className="test-outcome" role="status">
      <p>
        <CircleCheck size={16} aria-hidden /> The server responded in {formatNumber(latency)} ms and has{" "}
        {formatCount(models.length, "model")}.
      </p>
      {models.length > 0 && !models.includes(model) && (
        <p className="test-warning">
          <strong>{model}</strong> is not one of them: correct the name of the model.
        </p>
      )}
      {models.length > 0 && (
        <details>
          <summary>Models of the server</summary>
          <ul className="row">
            {models.map((name) => (
              <li key={name}>
                <Badge tone={name === model ? "accent" : "neutral"}>{name}</Badge>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
