/** Changes of the access rules of a key. */
import type { Schemas } from "../../api/client";

export type AccessRules = Record<string, Schemas["AccessScope"]>;
type Verb = Schemas["Verb"];

export const VERBS: Verb[] = ["read", "write", "query"];

/** Turns a classification or a verb of a pipeline on or off; a pipeline without classifications has no rule. */
export function changedRules(
  rules: AccessRules,
  pipelineId: string,
  change: { classification: string } | { verb: Verb },
  isOn: boolean,
): AccessRules {
  const before = rules[pipelineId] ?? { classifications: [], verbs: [] };
  const rule =
    "verb" in change
      ? { ...before, verbs: withItem(before.verbs, change.verb, isOn) }
      : {
          verbs: before.verbs.length === 0 && isOn ? (["read", "query"] as Verb[]) : before.verbs,
          classifications: withItem(before.classifications, change.classification, isOn),
        };
  const { [pipelineId]: _, ...others } = rules;
  return rule.classifications.length === 0 ? others : { ...others, [pipelineId]: rule };
}

/** `Unit 200: manual, hazop (read, query)`, or that there is no limit. */
export function accessText(rules: AccessRules, nameOf: (pipelineId: string) => string): string {
  const rows = Object.entries(rules);
  if (rows.length === 0) return "all documents";
  const text = ([id, { classifications, verbs }]: (typeof rows)[number]) =>
    `${nameOf(id)}: ${classifications.join(", ")} (${verbs.join(", ") || "nothing"})`;
  return rows.map(text).join("; ");
}

function withItem<T>(items: T[], item: T, isOn: boolean): T[] {
  const others = items.filter((other) => other !== item);
  return isOn ? [...others, item] : others;
}
