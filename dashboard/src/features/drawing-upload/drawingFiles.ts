/** Prepares the upload of a drawing: the id of its graph, and the body of the request. */
import { idOfFile } from "../drawing/queries";
import { contentTypeOf, FILE_ENDINGS, type FileSet } from "./formats";

export interface DrawingFiles {
  /** Name for messages. */
  name: string;
  graphId: string;
  body: File | FormData;
  size: number;
  headers: Record<string, string>;
}

/** A drawing in one file; it becomes a version of the given graph, or of the one that the file names, or that is named like it. */
export async function singleFile(file: File, graphId?: string): Promise<DrawingFiles> {
  const type = contentTypeOf(file.name);
  if (type === null) {
    throw new Error(`${file.name} cannot be read. Files of drawings end with ${FILE_ENDINGS.join(", ")}.`);
  }
  const stated = type === "application/json" ? statedId(await file.text()) : null;
  return {
    name: file.name,
    graphId: graphId ?? stated ?? idOfFile(file.name),
    body: file,
    size: file.size,
    headers: { "Content-Type": type },
  };
}

/** A drawing in several files, by the names of the parts that the service expects. */
export function fileSet(set: FileSet, files: ReadonlyMap<string, File>, graphId: string): DrawingFiles {
  const body = new FormData();
  let size = 0;
  for (const { part } of set.parts) {
    const file = files.get(part);
    if (!file) continue;
    body.append(part, file, part);
    size += file.size;
  }
  return { name: graphId, graphId, body, size, headers: {} };
}

/** The id that a graph in JSON states: the service stores it under no other. */
export function statedId(json: string): string | null {
  try {
    const document = JSON.parse(json);
    const id = (document?.pid_graph ?? document)?.metadata?.job_id;
    return typeof id === "string" && id !== "" ? id : null;
  } catch {
    // The service says what is wrong with the file, and where.
    return null;
  }
}
