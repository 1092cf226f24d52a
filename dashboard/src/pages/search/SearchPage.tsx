/** The page "Search lab": one query in all search modes side by side, with scores. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useSearchParams } from "react-router";
import { PipelineSelect } from "../../features/documents/PipelineSelect";
import { type Pipeline, pipelinesQuery } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Select, TextField } from "../../ui/fields";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { Rankings } from "./Rankings";
import "./search.css";

export default function SearchPage() {
  const pipelines = useQuery(pipelinesQuery);
  const [first] = pipelines.data ?? [];
  return (
    <Page
      title="Search lab"
      layout="full"
      description="Compare the rankings by words, by vectors and by both for one query."
    >
      {pipelines.isPending && <Loading label="Pipelines" />}
      {pipelines.isError && <ProblemMessage error={pipelines.error} onRetry={() => pipelines.refetch()} />}
      {pipelines.data && !first && (
        <p className="muted">There are no pipelines; create one under Documents.</p>
      )}
      {pipelines.data && first && <Lab pipelines={pipelines.data} first={first} />}
    </Page>
  );
}

function Lab({ pipelines, first }: { pipelines: Pipeline[]; first: Pipeline }) {
  const [search, setSearch] = useSearchParams();
  const pipeline = pipelines.find((row) => row.id === search.get("pipeline")) ?? first;
  const classification =
    pipeline.classifications.find((row) => row === search.get("classification")) ??
    pipeline.classifications[0] ??
    "";
  const query = search.get("q") ?? "";
  const [text, setText] = useState(query);
  const set = (changes: Record<string, string>) =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      for (const [name, value] of Object.entries(changes)) after.set(name, value);
      return after;
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set({ q: text.trim() });
  };
  return (
    <>
      <form className="search-form" onSubmit={submit}>
        <TextField label="Query" value={text} onChange={setText} isRequired />
        <PipelineSelect pipelines={pipelines} value={pipeline.id} onChange={(id) => set({ pipeline: id })} />
        <Select
          label="Classification"
          choices={pipeline.classifications.map((id) => ({ id, label: id }))}
          value={classification}
          onChange={(id) => set({ classification: id })}
        />
        <Button kind="primary" type="submit">
          Search
        </Button>
      </form>
      {query !== "" && <Rankings pipelineId={pipeline.id} classification={classification} query={query} />}
    </>
  );
}
