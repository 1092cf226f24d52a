/** The commands that the palette finds, one row per kind. */
import {
  FileText,
  Layers,
  ListChecks,
  type LucideIcon,
  MessageCircleQuestion,
  PanelsTopLeft,
  Tag,
  Workflow,
  Zap,
} from "lucide-react";
import { askPath, documentPagePath, pipelinePath } from "../../features/documents/links";
import { documentsQuery, nameWords, pipelinesQuery } from "../../features/documents/queries";
import { drawingPath } from "../../features/documents/tags";
import { classOf } from "../../features/drawing/model";
import { graphsQuery } from "../../features/drawing/queries";
import type { Frame } from "../../features/frame/frame";
import { QUESTIONS } from "../../features/query/questions";
import { formatCount } from "../../ui/format";
import { actionsOf } from "./actions";
import type { Command, CommandContext } from "./command";
import { searchTags } from "./tagSearch";

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
  { id: "questions", label: "Queries", icon: ListChecks, minLength: 4, limit: 4, find: findQuestions },
  {
    id: "ask",
    label: "Ask the documents",
    icon: MessageCircleQuestion,
    minLength: 4,
    limit: 1,
    find: findAsk,
  },
];

function findPages({ pages }: CommandContext): Command[] {
  return pages.map(({ path, label, key, group }) => ({
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

async function findDocuments({ text, queries }: CommandContext): Promise<Found> {
  const all = await queries.fetchQuery(pipelinesQuery);
  const lists = await Promise.all(
    all.slice(0, MAX_PIPELINES).map(async ({ id, name }) => {
      const { pages } = await queries.fetchInfiniteQuery(documentsQuery(id, { q: nameWords(text) }));
      return pages
        .flatMap((page) => page.data)
        .map((document) => ({
          id: `${id} ${document.id}`,
          label: document.filename,
          detail: name,
          run: goTo(documentPagePath(id, document.id)),
        }));
    }),
  );
  const isComplete = all.length <= MAX_PIPELINES;
  return {
    commands: lists.flat(),
    note: isComplete ? null : `Documents of the first ${MAX_PIPELINES} pipelines are searched by name.`,
  };
}

function findQuestions(): Command[] {
  return QUESTIONS.map(({ title, explanation, query }) => ({
    id: title,
    label: title,
    detail: explanation,
    run: goTo(`/query?${new URLSearchParams({ q: query })}`),
  }));
}

/** Several words, as a question to the documents of the first pipeline. */
async function findAsk({ text, queries }: CommandContext): Promise<Command[]> {
  if (!text.includes(" ")) return [];
  const first = (await queries.fetchQuery(pipelinesQuery))[0];
  return first ? [{ id: "ask", label: text, detail: first.name, run: goTo(askPath(first.id, text)) }] : [];
}
