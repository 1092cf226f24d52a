/** The types of events, one row per type. */
import type { Tone } from "../../ui/Badge";

export interface EventTypeRow {
  type: string;
  label: string;
  /** The occasion of the event. */
  description: string;
  tone: Tone;
  group: "Documents" | "Questions" | "Pipelines" | "Operation";
}

export const EVENT_TYPES: EventTypeRow[] = [
  {
    type: "document.queued",
    label: "Document queued",
    description: "A document waits for a worker.",
    tone: "neutral",
    group: "Documents",
  },
  {
    type: "document.stage",
    label: "Next stage",
    description: "A document entered the next ingestion stage.",
    tone: "close",
    group: "Documents",
  },
  {
    type: "document.ready",
    label: "Document ready",
    description: "A document is searchable.",
    tone: "success",
    group: "Documents",
  },
  {
    type: "document.failed",
    label: "Document failed",
    description: "The ingestion of a document failed.",
    tone: "danger",
    group: "Documents",
  },
  {
    type: "document.cancelled",
    label: "Document cancelled",
    description: "The ingestion of a document was cancelled.",
    tone: "warning",
    group: "Documents",
  },
  {
    type: "document.deleted",
    label: "Document deleted",
    description: "A document was deleted.",
    tone: "neutral",
    group: "Documents",
  },
  {
    type: "document.reclassified",
    label: "Document reclassified",
    description: "A document has another classification.",
    tone: "neutral",
    group: "Documents",
  },
  {
    type: "query.completed",
    label: "Question answered",
    description: "A question was answered, or has no answer in the documents.",
    tone: "success",
    group: "Questions",
  },
  {
    type: "query.failed",
    label: "Question failed",
    description: "Answering a question failed.",
    tone: "danger",
    group: "Questions",
  },
  {
    type: "pipeline.created",
    label: "Pipeline created",
    description: "A pipeline was created.",
    tone: "neutral",
    group: "Pipelines",
  },
  {
    type: "pipeline.updated",
    label: "Pipeline updated",
    description: "A pipeline was updated.",
    tone: "neutral",
    group: "Pipelines",
  },
  {
    type: "pipeline.deleted",
    label: "Pipeline deleted",
    description: "A pipeline was deleted with its documents.",
    tone: "warning",
    group: "Pipelines",
  },
  {
    type: "pipeline.reindex.started",
    label: "Reindex started",
    description: "A new index is being built.",
    tone: "close",
    group: "Pipelines",
  },
  {
    type: "pipeline.reindex.completed",
    label: "Reindex ended",
    description: "The new index is in use, or could not be built.",
    tone: "neutral",
    group: "Pipelines",
  },
  {
    type: "webhook.disabled",
    label: "Webhook disabled",
    description: "A webhook was disabled.",
    tone: "danger",
    group: "Operation",
  },
  {
    type: "license.changed",
    label: "License changed",
    description: "The license or its state changed.",
    tone: "warning",
    group: "Operation",
  },
];

export const EVENT_GROUPS: EventTypeRow["group"][] = ["Documents", "Questions", "Pipelines", "Operation"];

/** The row of a type; a type that this version does not know is shown by its name. */
export function eventType(type: string): EventTypeRow {
  const row = EVENT_TYPES.find((row) => row.type === type);
  return row ?? { type, label: type, description: "", tone: "neutral", group: "Operation" };
}
