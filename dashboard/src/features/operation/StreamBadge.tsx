/** State of the stream of events. */
import { Badge, type Tone } from "../../ui/Badge";
import type { StreamState } from "./useEvents";

const STATES: Record<StreamState, { label: string; tone: Tone }> = {
  connecting: { label: "Waiting for events", tone: "neutral" },
  live: { label: "Live", tone: "success" },
  interrupted: { label: "Interrupted, reconnecting", tone: "warning" },
};

export function StreamBadge({ state }: { state: StreamState }) {
  return (
    <span role="status">
      <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>
    </span>
  );
}
