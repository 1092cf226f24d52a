/** State of a webhook. */
import { Badge } from "../../ui/Badge";
import type { Webhook } from "./queries";

export function WebhookStateBadge({ webhook }: { webhook: Webhook }) {
  if (webhook.status === "disabled") return <Badge tone="warning">Disabled</Badge>;
  if (webhook.failures > 0) return <Badge tone="danger">Failing</Badge>;
  return <Badge tone="success">Active</Badge>;
}
