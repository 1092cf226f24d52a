/** The query and its filters. */
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { PipelineSelect } from "../../features/documents/PipelineSelect";
import type { Pipeline } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Select, TextField } from "../../ui/fields";
import { parseFilter, type SearchSettings, TOP_K } from "./settings";

interface SearchFormProps {
  pipelines: Pipeline[];
  pipeline: Pipeline;
  settings: SearchSettings;
  onChange: (values: Record<string, string>) => void;
}

const COUNTS = [3, 5, TOP_K.default, 20, TOP_K.max];

export function SearchForm({ pipelines, pipeline, settings, onChange }: SearchFormProps) {
  const [query, setQuery] = useState(settings.query);
  const [filter, setFilter] = useState(settings.filterText);
  useEffect(() => setQuery(settings.query), [settings.query]);
  useEffect(() => setFilter(settings.filterText), [settings.filterText]);
  const isFilterWrong = filter.trim() !== "" && parseFilter(filter) === null;
  const counts = [...new Set([...COUNTS, settings.topK])].sort((a, b) => a - b);
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isFilterWrong) onChange({ q: query.trim(), filter: filter.trim() });
      }}
    >
      <div className="search-query">
        <TextField
          label="Query"
          placeholder="A tag, keywords or a question"
          value={query}
          onChange={setQuery}
          maxLength={8000}
        />
        <Button type="submit" kind="primary" isDisabled={query.trim() === "" || isFilterWrong}>
          <Search size={16} aria-hidden /> Search
        </Button>
      </div>
      <div className="search-options">
        {pipelines.length > 1 && (
          <PipelineSelect
            pipelines={pipelines}
            value={pipeline.id}
            onChange={(pipeline) => onChange({ pipeline, classification: "" })}
          />
        )}
        <Select
          label="Classification"
          choices={pipeline.classifications.map((id) => ({ id, label: id }))}
          value={settings.classification}
          onChange={(classification) => onChange({ classification })}
        />
        <Select
          label="Passages"
          choices={counts.map((count) => ({ id: String(count), label: String(count) }))}
          value={String(settings.topK)}
          onChange={(top_k) => onChange({ top_k })}
        />
        <TextField
          label="Metadata filter"
          placeholder='{"unit": 20, "year": {"gte": 2020}}'
          error={isFilterWrong ? "Expected a JSON object." : undefined}
          value={filter}
          onChange={setFilter}
        />
      </div>
    </form>
  );
}
