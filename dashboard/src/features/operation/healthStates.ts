/** Texts and tones of the states of the service, one row per state. */
import type { Tone } from "../../ui/Badge";
import type { HealthState } from "./health";

interface HealthStateRow {
  tone: Tone;
  label: string;
  advice: string;
}

export const HEALTH_STATES: Record<HealthState, HealthStateRow> = {
  ready: { tone: "success", label: "Ready", advice: "All parts work." },
  degraded: { tone: "warning", label: "Degraded", advice: "Some parts do not work:" },
  "not-ready": {
    tone: "danger",
    label: "Not ready",
    advice: "The service is starting, stopping, or waits for its database.",
  },
  unreachable: { tone: "danger", label: "Not reachable", advice: "The service does not respond." },
};
