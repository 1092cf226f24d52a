/** Words of a graph that the editor completes: fields with their values, and tags. */

export interface FieldWords {
  name: string;
  count: number;
  /** The most frequent values, as they are written in a query. */
  values: string[];
}

export interface Vocabulary {
  fields: FieldWords[];
  tags: string[];
}

export const EMPTY_VOCABULARY: Vocabulary = { fields: [], tags: [] };

const MAX_VALUES = 40;

export function collectVocabulary(items: Record<string, unknown>[]): Vocabulary {
  const counts = new Map<string, Map<string, number>>();
  const totals = new Map<string, number>();
  for (const [name, value] of items.flatMap((item) => Object.entries(item))) {
    totals.set(name, (totals.get(name) ?? 0) + 1);
    if (value === null || typeof value === "object") continue;
    const values = counts.get(name) ?? new Map<string, number>();
    const text = JSON.stringify(value);
    counts.set(name, values.set(text, (values.get(text) ?? 0) + 1));
  }
  const fields = [...totals].map(([name, count]) => ({
    name,
    count,
    values: mostFrequent(counts.get(name) ?? new Map()),
  }));
  return { fields: fields.sort((a, b) => b.count - a.count), tags: tagsOf(items) };
}

function mostFrequent(values: Map<string, number>): string[] {
  return [...values]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_VALUES)
    .map(([value]) => value);
}

function tagsOf(items: Record<string, unknown>[]): string[] {
  const tags = items.flatMap((item) => [item.qualified_tag ?? item.tag]);
  return [...new Set(tags.filter((tag): tag is string => typeof tag === "string" && tag !== ""))].sort();
}
