/** The response of `/version` as names and values. */
import type { ServiceVersion } from "../../features/operation/queries";

interface VersionRow {
  label: string;
  value: string;
}

const LABELS: Record<string, string> = { name: "Product", version: "Version" };

/** All that the service tells: name and version, and whatever a later version adds. */
export function versionRows(version: ServiceVersion): VersionRow[] {
  return Object.entries(version)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([field, value]) => ({ label: LABELS[field] ?? labelOf(field), value: textOf(value) }));
}

function labelOf(field: string): string {
  const words = field.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
