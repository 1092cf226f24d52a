/** Filters of the documents, in the address of the page. */
import { useSearchParams } from "react-router";
import type { DocumentStatus, Pipeline } from "../../features/documents/queries";
import { STATUSES } from "../../features/documents/status";
import { SearchField, Select } from "../../ui/fields";

const ALL = "";

export function DocumentFilters({ pipeline }: { pipeline: Pipeline }) {
  const [search, setSearch] = useSearchParams();
  const set = (name: string, value: string) =>
    setSearch(
      (search) => {
        if (value === ALL) search.delete(name);
        else search.set(name, value);
        return search;
      },
      { replace: true },
    );
  return (
    <div className="filters">
      <SearchField
        label="Filter by name"
        value={search.get("name") ?? ""}
        onChange={(name) => set("name", name)}
      />
      <Select
        label="Status"
        isLabelHidden
        choices={[
          { id: ALL, label: "Any status" },
          ...(Object.keys(STATUSES) as DocumentStatus[]).map((id) => ({ id, label: STATUSES[id].label })),
        ]}
        value={search.get("status") ?? ALL}
        onChange={(status) => set("status", status)}
      />
      <Select
        label="Classification"
        isLabelHidden
        choices={[
          { id: ALL, label: "Any classification" },
          ...pipeline.classifications.map((id) => ({ id, label: id })),
        ]}
        value={search.get("classification") ?? ALL}
        onChange={(classification) => set("classification", classification)}
      />
    </div>
  );
}
