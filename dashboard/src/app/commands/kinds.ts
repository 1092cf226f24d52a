/** The commands that the palette finds, one row per kind. */
import type { QueryClient } from "@tanstack/react-query";
import { FileText, Layers, type LucideIcon, PanelsTopLeft, Tag, Workflow, Zap } from "lucide-react";
import { documentPagePath, pipelinePath } from "../../features/documents/links";
import { documentsQuery, pipelinesQuery } from "../../features/documents/queries";
import { drawingPath } from "../../features/documents/tags";
import { classOf } from "../../features/drawing/model";
import { graphsQuery } from "../../features/drawing/queries";
import { formatCount } from "../../ui/format";
import type { Frame } from "../frame";
import { PAGES } from "../pages";
import { actionsOf } from "./actions";
import type { PageCommand } from "./pageCommands";
import { searchTags } from "./tagSearch";

export interface Command {
  id: string;
  label: string;
  /** Tells commands of the same name apart. */
  detail?: string;
  keys?: string;
  run: (frame: Frame) => void;
}

export interface CommandContext {
  text: string;
  pathname: string;
  search: string;
  pageCommands: PageCommand[];
  canSignOut: boolean;
  queries: QueryClient;
  signal: AbortSignal;
}

export interface CommandKind {
  id: string;
  label: string;
  icon: LucideIcon;
  /** Characters to type before the kind is searched. */
  minLength: number;
  limit: number;
  /** The commands to choose from; those that do not match the text are left out afterwards. */
  find: (context: CommandContext) => Found | Promise<Found>;
}

/** Commands, alone or with a note on what they lack. */
export type Found = Command[] | { commands: Command[]; note: string | null };

/** The number of pipelines whose documents are searched, the first ones of the list. */
const MAX_PIPELINES = 20;

const goTo = (path: string) => (frame: Frame) => frame.navigate(path);

export const COMMAND_KINDS: CommandKind[] = [
  { id: "actions", label: "Actions", icon: Zap, minLength: 0, limit: 8, find: actionsOf },
  { id: "pages", label: "Pages", icon: PanelsTopLeft, minLength: 0, limit: 15, find: findPages },
  { id: "drawings", label: "Drawings", icon: Workflow, minLength: 1, limit: 6, find: findDrawings },
  { id: "tags", label: "Tags in drawings", icon: Tag, minLength: 2, limit: 8, find: findTags },
  { id: "pipelines", label: "Pipelines", icon: Layers, minLength: 1, limit: 5, find: findPipelines },
  { id: "documents", label: "Documents", icon: FileText, minLength: 2, limit: 6, find: findDocuments },
];

function findPages(): Command[] {
  return PAGES.map(({ path, label, key, group }) => ({
    id: path,
    label,
    detail: group,
    keys: `g ${key}`,
    run: goTo(path),
  }));
}

async function findDrawings({ queries }: CommandContext): Promise<Command[]> {
  const rows = await queries.fetchQuery(graphsQuery);
  return rows.map((row) => ({
    id: row.job_id,
    label: row.drawing_name ?? row.job_id,
    ...(row.drawing_name ? { detail: row.job_id } : {}),
    run: goTo(`/drawings/${encodeURIComponent(row.job_id)}`),
  }));
}

async function findTags({ text, queries, signal }: CommandContext): Promise<Found> {
  const [{ tags, failed }, rows] = await Promise.all([
    searchTags(text, signal),
    queries.fetchQuery(graphsQuery),
  ]);
  const names = new Map(rows.map((row) => [row.job_id, row.drawing_name ?? row.job_id]));
  const nameOf = (graph: string) => names.get(graph) ?? graph;
  const commands = tags.map(({ graph, node, tag, type }) => ({
    id: `${graph} ${node}`,
    label: tag,
    detail: `${classOf({ node_classification: type })} in ${nameOf(graph)}`,
    run: goTo(drawingPath({ graph, node })),
  }));
  const note = failed.length === 0 ? null : `Not searched for tags: ${failed.map(nameOf).join(", ")}.`;
  return { commands, note };
}

async function findPipelines({ queries }: CommandContext): Promise<Command[]> {
  const pipelines = await queries.fetchQuery(pipelinesQuery);
  return pipelines.map(({ id, name, document_counts }) => ({
    id,
    label: name,
    detail: formatCount(document_counts.total, "document"),
    run: goTo(pipelinePath(id)),
  }));
}

/** Among the newest documents of each pipeline: the service finds whole file names only. */
async function findDocuments({ queries }: CommandContext): Promise<Found> {
  const all = await queries.fetchQuery(pipelinesQuery);
  const lists = await Promise.all(
    all.slice(0, MAX_PIPELINES).map(async ({ id, name }) => {
      const { pages } = await queries.fetchInfiniteQuery(documentsQuery(id, {}));
      const documents = pages.flatMap((page) => page.data);
      const commands = documents.map((document) => ({
        id: `${id} ${document.id}`,
        label: document.filename,
        detail: name,
        run: goTo(documentPagePath(id, document.id)),
      }));
      return { commands, isComplete: pages.at(-1)?.next_cursor == null };
    }),
  );
  const isComplete = all.length <= MAX_PIPELINES && lists.every((list) => list.isComplete);
  return {
    commands: lists.flatMap((list) => list.commands),
    note: isComplete ? null : "Only the newest documents of each pipeline are searched by name.",
  };
}
