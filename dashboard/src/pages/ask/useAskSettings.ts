/** Settings of a question, in the address of the page: classification and model. */
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { languageModelsQuery, type Pipeline } from "../../features/documents/queries";

/** Value of `model` for answers that quote the documents. */
export const NO_MODEL = "none";

export function useAskSettings(pipeline: Pipeline) {
  const [search, setSearch] = useSearchParams();
  // A service that is older than this page lists no models: its answers are quotes.
  const models = useQuery({ ...languageModelsQuery, retry: false });
  const rows = models.data ?? [];
  const asked = search.get("classification") ?? "";
  const classification = pipeline.classifications.includes(asked)
    ? asked
    : (pipeline.classifications[0] ?? "");
  const model = search.get("model");
  const connection = model === NO_MODEL ? null : (rows.find((row) => row.id === model) ?? rows[0] ?? null);
  const set = (values: Record<string, string | null>) =>
    setSearch(
      (search) => {
        for (const [name, value] of Object.entries(values)) {
          if (value === null) search.delete(name);
          else search.set(name, value);
        }
        return search;
      },
      { replace: true },
    );
  return {
    question: search.get("q"),
    classification,
    connection,
    connections: rows,
    isLoading: models.isLoading,
    set,
  };
}
