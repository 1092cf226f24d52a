/** Opens a question about a tag to the documents. */
import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { ButtonLink } from "../../ui/Button";

export function AskLink({ tag }: { tag: string }) {
  const pipelines = useQuery({
    queryKey: ["pipelines"],
    queryFn: () => data(api.GET("/api/pipelines")),
    retry: false,
  });
  const first = pipelines.data?.data[0]?.id;
  if (!first) return null;
  const question = `What do the documents say about ${tag}?`;
  return (
    <ButtonLink size="small" href={`/ask/${encodeURIComponent(first)}?q=${encodeURIComponent(question)}`}>
      Ask the documents
    </ButtonLink>
  );
}
