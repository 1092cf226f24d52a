/** Settings of a search, in the address of the page. */
import type { Schemas } from "../../api/client";
import type { Pipeline } from "../../features/documents/queries";

export interface ModeRow {
  mode: Schemas["SearchMode"];
  label: string;
  description: string;
}

/** The first column is the one that the others are compared with. */
export const MODES: ModeRow[] = [
  { mode: "hybrid", label: "Hybrid", description: "Words and vectors together" },
  { mode: "sparse", label: "BM25", description: "Words only" },
  { mode: "dense", label: "Dense", description: "Vectors only" },
];

export type MetadataFilter = Record<string, unknown>;

export interface SearchSettings {
  query: string;
  classification: string;
  topK: number;
  /** Text of the metadata filter, as JSON. */
  filterText: string;
  filter: MetadataFilter | null;
}

export const TOP_K = { min: 1, max: 50, default: 8 };

export function settingsOf(search: URLSearchParams, pipeline: Pipeline): SearchSettings {
  const classification = search.get("classification") ?? "";
  const topK = Number(search.get("top_k") ?? TOP_K.default);
  const filterText = search.get("filter") ?? "";
  return {
    query: search.get("q") ?? "",
    classification: pipeline.classifications.includes(classification)
      ? classification
      : (pipeline.classifications[0] ?? ""),
    topK: Number.isInteger(topK) && topK >= TOP_K.min && topK <= TOP_K.max ? topK : TOP_K.default,
    filterText,
    filter: parseFilter(filterText),
  };
}

/** The filter that a text describes; null if there is none, or the text is no JSON object. */
export function parseFilter(text: string): MetadataFilter | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as MetadataFilter)
      : null;
  } catch {
    return null;
  }
}
