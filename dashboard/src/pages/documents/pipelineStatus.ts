/** The states of a pipeline, as people read them. */
import type { Pipeline } from "../../features/documents/queries";
import type { Tone } from "../../ui/Badge";

interface StatusRow {
  label: string;
  tone: Tone;
  description: string;
}

export const PIPELINE_STATUSES: Record<Pipeline["status"], StatusRow> = {
  active: { label: "Active", tone: "success", description: "Documents are processed and searched." },
  reindexing: {
    label: "Reindexing",
    tone: "close",
    description: "A new index is being built. Searches use the old one until it is complete.",
  },
  degraded: {
    label: "Degraded",
    tone: "warning",
    description:
      "The embedding model does not respond: documents wait, and searches use words only. Both resume by themselves.",
  },
  deleting: { label: "Deleting", tone: "neutral", description: "The pipeline is being deleted." },
};
