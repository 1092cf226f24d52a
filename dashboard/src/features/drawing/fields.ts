/** The fields of an item as rows of label and text. */
import type { GraphNode } from "./model";

export interface FieldRow {
  key: string;
  label: string;
  text: string;
  /** Says what the drawing leaves open about the value. */
  note?: string;
}

/** Fields that are shown by other means, or that say nothing to an engineer. */
const HIDDEN = new Set(["attributes", "graphics", "orig_x", "orig_y"]);
/** A number in one of these is misread without its unit. */
const NEEDS_UNIT = /(pressure|temperature)$/;

export function fieldRows(node: GraphNode): FieldRow[] {
  const fields = Object.entries(node).filter(([name]) => !HIDDEN.has(name) && !isUnit(node, name));
  return [
    ...fields.map(([name, value]) => fieldRow(name, name, value, node[`${name}_unit`])),
    ...(node.attributes ?? []).map(({ name, value, unit }) =>
      fieldRow(`attribute ${name}`, name, value, unit),
    ),
  ];
}

/** `set_pressure_unit` is shown beside `set_pressure`. */
function isUnit(node: GraphNode, name: string): boolean {
  return name.endsWith("_unit") && node[name.slice(0, -"_unit".length)] !== undefined;
}

function fieldRow(key: string, name: string, value: unknown, unit: unknown): FieldRow {
  const row = { key, label: words(name), text: fieldText(value) };
  if (typeof unit === "string" && unit !== "") return { ...row, text: `${row.text} ${unit}` };
  return typeof value === "number" && NEEDS_UNIT.test(name) ? { ...row, note: "unit not stated" } : row;
}

/** The text of a value at any depth: names of items by their tag, objects as `field: value`. */
export function fieldText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "not stated";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(fieldText).join(", ");
  if (typeof value !== "object") return String(value);
  const fields = value as Record<string, unknown>;
  if (typeof fields.value !== "object" && fields.value !== undefined && Object.keys(fields).length <= 2) {
    return [fieldText(fields.value), fields.unit].filter((text) => typeof text === "string").join(" ");
  }
  const parts = Object.entries(fields).map(([name, part]) => `${words(name)}: ${nested(part)}`);
  return parts.join("; ") || "none";
}

/** An object within another one is put into parentheses, so that the levels can be told apart. */
function nested(value: unknown): string {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? `(${fieldText(value)})` : fieldText(value);
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}
