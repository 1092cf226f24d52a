/** A webhook: what it receives, its state, its actions and its deliveries. */
import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { Link, useParams } from "react-router";
import { eventType } from "../../features/operation/eventTypes";
import { useNames } from "../../features/operation/useNames";
import { Page } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { Deliveries } from "./Deliveries";
import { type Webhook, webhookQuery } from "./queries";
import { WebhookActions } from "./WebhookActions";
import { WebhookStateBadge } from "./WebhookStateBadge";
import "./webhooks.css";
import { QueryState } from "../../ui/QueryState";

export function WebhookView() {
  const { webhookId = "" } = useParams();
  const webhook = useQuery(webhookQuery(webhookId));
  return (
    <Page title="Webhook" actions={webhook.data && <WebhookActions webhook={webhook.data} />}>
      <Link to="/webhooks" className="row">
        <ArrowLeft size={15} aria-hidden /> All webhooks
      </Link>
      <QueryState query={webhook} label="Webhook" />
      {webhook.data && <Facts webhook={webhook.data} />}
      {webhook.data && <Deliveries webhookId={webhookId} />}
    </Page>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  const names = useNames();
  const types = webhook.types.map((type) => eventType(type).label);
  return (
    <section className="card stack" aria-label="Webhook">
      <h2 className="webhook-url">{webhook.url}</h2>
      <div className="row">
        <WebhookStateBadge webhook={webhook} />
        {webhook.failing_since && (
          <span>
            {webhook.failures} failures since <Time at={webhook.failing_since} />
          </span>
        )}
      </div>
      {webhook.error && <p className="webhook-error">{webhook.error}</p>}
      <dl className="facts">
        <dt>Events</dt>
        <dd>{types.length === 0 ? "All" : types.join(", ")}</dd>
        <dt>Pipelines</dt>
        <dd>{webhook.pipelines.length === 0 ? "All" : webhook.pipelines.map(names.pipeline).join(", ")}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={webhook.created_at} />
        </dd>
        {webhook.key_id && (
          <>
            <dt>Owner</dt>
            <dd>
              API key <code>{webhook.key_id}</code>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
