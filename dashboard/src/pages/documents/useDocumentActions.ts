/** Actions on documents: retry, cancel, reclassify, delete. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { documentsKey } from "../../features/documents/queries";
import { formatCount } from "../../ui/format";
import { showError, showSuccess } from "../../ui/toast";

/** The number of documents that the API deletes at once. */
const BULK = 200;

export function useDocumentActions(pipeline_id: string) {
  const queries = useQueryClient();
  const options = {
    onSettled: () => {
      queries.invalidateQueries({ queryKey: documentsKey(pipeline_id) });
      queries.invalidateQueries({ queryKey: ["pipelines"] });
    },
    onError: showError,
  };
  const path = (document_id: string) => ({ params: { path: { pipeline_id, document_id } } });
  const retry = useMutation({
    mutationFn: (id: string) =>
      api.POST("/api/pipelines/{pipeline_id}/documents/{document_id}/retry", path(id)),
    ...options,
  });
  const cancel = useMutation({
    mutationFn: (id: string) =>
      api.POST("/api/pipelines/{pipeline_id}/documents/{document_id}/cancel", path(id)),
    ...options,
  });
  const patch = useMutation({
    mutationFn: ({ id, body }: { id: string; body: Schemas["DocumentPatch"] }) =>
      data(api.PATCH("/api/pipelines/{pipeline_id}/documents/{document_id}", { ...path(id), body })),
    ...options,
  });
  const remove = useMutation({
    mutationFn: async (ids: string[]) => {
      let deleted = 0;
      for (let start = 0; start < ids.length; start += BULK) {
        const result = await data(
          api.POST("/api/pipelines/{pipeline_id}/documents:delete", {
            params: { path: { pipeline_id } },
            body: { ids: ids.slice(start, start + BULK) },
          }),
        );
        deleted += result.deleted;
      }
      return deleted;
    },
    ...options,
    onSuccess: (deleted) => showSuccess(`${formatCount(deleted, "document")} deleted.`),
  });
  return { retry, cancel, patch, remove };
}
