/** Opens a question about a tag to the documents. */
import { useQuery } from "@tanstack/react-query";
import { askPath } from "../../features/documents/links";
import { pipelinesQuery } from "../../features/documents/queries";
import { ButtonLink } from "../../ui/Button";

export function AskLink({ tag }: { tag: string }) {
  const first = useQuery({ ...pipelinesQuery, retry: false }).data?.[0];
  if (!first) return null;
  return (
    <ButtonLink size="small" href={askPath(first.id, `What do the documents say about ${tag}?`)}>
      Ask the documents
    </ButtonLink>
  );
}
