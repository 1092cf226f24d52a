/** The graphs that a query reads besides its own, as its graph parameters: other versions, and other sheets. */
import type { Schemas } from "../../api/client";

export interface GraphRef {
  id: string;
  /** The latest version if there is none. */
  version?: string;
}

export type GraphParams = Record<string, Schemas["GraphReference"]>;

export interface OtherGraphs {
  /** The expression of each graph in the query. */
  names: string[];
  graphParams: GraphParams;
}

export function otherGraphs(refs: GraphRef[]): OtherGraphs {
  const params = refs.map(({ id, version }, index) => {
    const reference = { job_id: id, ...(version !== undefined && { change_version: version }) };
    return [nameOf(index), reference] as const;
  });
  return { names: params.map(([name]) => `$${name}`), graphParams: Object.fromEntries(params) };
}

function nameOf(index: number): string {
  return `other${index + 1}`;
}
