/** Reads of the document platform. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { allRows, PAGE_SIZE } from "../../api/allRows";
import { api, checked, data, type Schemas } from "../../api/client";

export type Pipeline = Schemas["Pipeline"];
export type PlatformDocument = Schemas["Document"];
export type DocumentStatus = Schemas["DocumentStatus"];
export type Chunk = Schemas["Chunk"];
export type PageWords = Schemas["PageWords"];
export type TextSplitter = Schemas["TextSplitter"];
export type EmbeddingModel = Schemas["EmbeddingModel"];
export type LlmConnection = Schemas["LlmConnection"];
export type LanguageModel = Schemas["LanguageModel"];

export const pipelinesQuery = queryOptions({
  queryKey: ["pipelines"],
  queryFn: async () => allRows<Pipeline>((query) => data(api.GET("/api/pipelines", { params: { query } }))),
});

export const pipelineQuery = (pipeline_id: string) =>
  queryOptions({
    queryKey: ["pipelines", pipeline_id],
    queryFn: () => data(api.GET("/api/pipelines/{pipeline_id}", { params: { path: { pipeline_id } } })),
  });

export interface DocumentFilter {
  classification?: string;
  status?: DocumentStatus;
  /** Words of the file name. */
  q?: string;
}

/** Words that the service searches file names for. */
const MAX_WORDS = 8;

/** Search for file names, from typed text; further words are left out. */
export function nameWords(text: string): string {
  return text.trim().split(/\s+/).slice(0, MAX_WORDS).join(" ");
}

export const documentsKey = (pipelineId: string) => ["documents", pipelineId];

/** The documents of a pipeline, newest first, by pages. */
export const documentsQuery = (pipeline_id: string, filter: DocumentFilter) =>
  infiniteQueryOptions({
    queryKey: [...documentsKey(pipeline_id), "list", filter],
    queryFn: ({ pageParam }) =>
      data(
        api.GET("/api/pipelines/{pipeline_id}/documents", {
          params: {
            path: { pipeline_id },
            query: {
              limit: PAGE_SIZE,
              sort: "-created_at",
              ...filter,
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
  });

/** The documents of a pipeline that were created at this time or later, and the time of the request. */
export const documentsSinceQuery = (pipeline_id: string, since: string | null) =>
  queryOptions({
    queryKey: [...documentsKey(pipeline_id), "since", since],
    queryFn: async () => {
      const requestedAt = Date.now();
      const documents: PlatformDocument[] = [];
      const isNew = ({ created_at }: PlatformDocument) => Date.parse(created_at) >= Date.parse(since ?? "");
      for (let cursor: string | null = ""; cursor !== null; ) {
        const query = { limit: PAGE_SIZE, sort: "-created_at" as const, ...(cursor ? { cursor } : {}) };
        const page: Schemas["DocumentPage"] = await data(
          api.GET("/api/pipelines/{pipeline_id}/documents", { params: { path: { pipeline_id }, query } }),
        );
        documents.push(...page.data.filter(isNew));
        cursor = page.data.every(isNew) ? page.next_cursor : null;
      }
      return { requestedAt, documents };
    },
    enabled: since !== null,
  });

export const documentQuery = (pipeline_id: string, document_id: string) =>
  queryOptions({
    queryKey: [...documentsKey(pipeline_id), document_id],
    queryFn: () =>
      data(
        api.GET("/api/pipelines/{pipeline_id}/documents/{document_id}", {
          params: { path: { pipeline_id, document_id } },
        }),
      ),
  });

/** The attachments of a mail. */
export const attachmentsQuery = (pipeline_id: string, parent_id: string) =>
  queryOptions({
    queryKey: [...documentsKey(pipeline_id), parent_id, "attachments"],
    queryFn: async () =>
      allRows<PlatformDocument>((page) =>
        data(
          api.GET("/api/pipelines/{pipeline_id}/documents", {
            params: { path: { pipeline_id }, query: { ...page, parent_id, sort: "filename" } },
          }),
        ),
      ),
  });

/** The chunks of the searchable revision. */
export const chunksQuery = (pipeline_id: string, document_id: string, revision: number | null) =>
  queryOptions({
    queryKey: [...documentsKey(pipeline_id), document_id, "chunks", revision],
    queryFn: () =>
      allRows<Chunk>((query) =>
        data(
          api.GET("/api/pipelines/{pipeline_id}/documents/{document_id}/chunks", {
            params: { path: { pipeline_id, document_id }, query },
          }),
        ),
      ),
    enabled: revision !== null,
    staleTime: 300_000,
  });

/** The pages of a chunk with the boxes of its words; none if the document was read without them. */
export const chunkWordsQuery = (document: PlatformDocument, chunk: Chunk | null) =>
  queryOptions({
    queryKey: [
      ...documentsKey(document.pipeline_id),
      document.id,
      "words",
      document.searchable_revision,
      chunk?.start,
      chunk?.end,
    ],
    queryFn: () =>
      allRows<PageWords>((query) =>
        data(
          api.GET("/api/pipelines/{pipeline_id}/documents/{document_id}/words", {
            params: {
              path: { pipeline_id: document.pipeline_id, document_id: document.id },
              query: { ...query, start: chunk?.start ?? 0, end: chunk?.end ?? 0 },
            },
          }),
        ),
      ),
    // The pages that are shown are those of the last revision, which may not be searchable yet.
    enabled: chunk?.start != null && chunk.end != null && document.searchable_revision === document.revision,
    staleTime: 300_000,
  });

/** A range of the text of a revision. */
export interface TextPlace {
  pipelineId: string;
  documentId: string;
  revision: number;
  start: number;
  end: number;
}

/** The pages of a place with the boxes of its words; none if the document has none, or is no longer of this revision. */
export const placeWordsQuery = ({ pipelineId, documentId, revision, start, end }: TextPlace) =>
  queryOptions({
    queryKey: [...documentsKey(pipelineId), documentId, "words", revision, start, end],
    queryFn: async () => {
      const words = await data(
        api.GET("/api/pipelines/{pipeline_id}/documents/{document_id}/words", {
          params: { path: { pipeline_id: pipelineId, document_id: documentId }, query: { start, end } },
        }),
      );
      return words.revision === revision ? words.data : [];
    },
    staleTime: 300_000,
  });

/** The image of a page as a data URL, since the pages of the dashboard show no others. */
export const pageImageQuery = (
  { pipelineId, documentId, revision }: Pick<TextPlace, "pipelineId" | "documentId" | "revision">,
  page: number,
) =>
  queryOptions({
    // A revision does not change: events of the document do not load it again.
    queryKey: ["page-image", pipelineId, documentId, revision, page],
    queryFn: async () => {
      const path = `${documentPath(pipelineId, documentId)}/pages/${page}/image?revision=${revision}`;
      return dataUrl(await (await checked(await fetch(path))).blob());
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

export const textQuery = (pipelineId: string, documentId: string, revision: number | null) =>
  queryOptions({
    queryKey: [...documentsKey(pipelineId), documentId, "text", revision],
    queryFn: async () => (await checked(await fetch(`${documentPath(pipelineId, documentId)}/text`))).text(),
    enabled: revision !== null,
    staleTime: 300_000,
  });

/** Path of a document in the API. */
export function documentPath(pipelineId: string, documentId: string): string {
  return `/api/pipelines/${encodeURIComponent(pipelineId)}/documents/${encodeURIComponent(documentId)}`;
}

export const embeddingModelsQuery = queryOptions({
  queryKey: ["embedding-models"],
  queryFn: async () => (await data(api.GET("/api/embedding-models"))).data,
  staleTime: 300_000,
});

export const textSplittersQuery = queryOptions({
  queryKey: ["text-splitters"],
  queryFn: async () => (await data(api.GET("/api/text-splitters"))).data,
  staleTime: Number.POSITIVE_INFINITY,
});

/** The models that questions can name, for everyone who may ask. */
export const languageModelsQuery = queryOptions({
  queryKey: ["language-models"],
  queryFn: () =>
    allRows<LanguageModel>((query) => data(api.GET("/api/language-models", { params: { query } }))),
});

export const connectionsQuery = queryOptions({
  queryKey: ["llm-connections"],
  queryFn: () =>
    allRows<LlmConnection>((query) => data(api.GET("/api/llm-connections", { params: { query } }))),
});
