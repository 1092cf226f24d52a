/** The state of a document. */
import { Badge } from "../../ui/Badge";
import type { PlatformDocument } from "./queries";
import { STATUSES, statusText } from "./status";

export function StatusBadge({ document }: { document: PlatformDocument }) {
  const { tone, description } = STATUSES[document.status];
  return (
    <span title={document.error?.message ?? description}>
      <Badge tone={tone}>{statusText(document)}</Badge>
    </span>
  );
}
