/**
 * The graphs that a query reads besides its own: other versions, and other sheets.
 *
 * The service reads one graph per query. The others are sent with it as parameters, so that they count towards the limit of
 * the request (2 MiB). A function that reads them in the service replaces only this file.
 */
import type { QueryClient } from "@tanstack/react-query";
import { documentQuery } from "./queries";

export interface GraphRef {
  id: string;
  /** The latest version if there is none. */
  version?: string;
}

export interface OtherGraphs {
  /** The expression of each graph in the query. */
  names: string[];
  params: Record<string, unknown>;
}

export async function otherGraphs(client: QueryClient, refs: GraphRef[]): Promise<OtherGraphs> {
  const documents = await Promise.all(
    refs.map(({ id, version }) => client.fetchQuery(documentQuery(id, version ?? null))),
  );
  const params = Object.fromEntries(documents.map((document, index) => [nameOf(index), document]));
  return { names: documents.map((_, index) => `$${nameOf(index)}`), params };
}

function nameOf(index: number): string {
  return `other${index + 1}`;
}
