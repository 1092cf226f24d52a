/** Uploads with the present state of their documents, refreshed until each is ready or has failed. */
import { useQuery } from "@tanstack/react-query";
import { PROCESSING_REFRESH } from "../../features/documents/events";
import { documentsSinceQuery } from "../../features/documents/queries";
import { isProcessing } from "../../features/documents/status";
import { type FollowedUpload, followed } from "./uploadState";
import type { Upload } from "./useUploads";

export function useUploadedDocuments(
  pipelineId: string,
  uploads: Upload[],
  isLive: boolean,
): FollowedUpload[] {
  const documents = useQuery({
    ...documentsSinceQuery(pipelineId, firstCreation(uploads)),
    refetchInterval: ({ state }) =>
      state.data?.documents.some(isProcessing) ? PROCESSING_REFRESH[isLive ? "live" : "polled"] : false,
  });
  return uploads.map((upload) => followed(upload, documents.data));
}

/** Creation of the oldest document that was uploaded; duplicates are documents of others. */
function firstCreation(uploads: Upload[]): string | null {
  const times = uploads.flatMap(({ document }) =>
    document && !document.duplicate ? [document.created_at] : [],
  );
  return times.sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null;
}
