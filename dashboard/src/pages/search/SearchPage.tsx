/** The page "Search lab": one query by words, by vectors and by both, side by side. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { useSearchParams } from "react-router";
import { api, data } from "../../api/client";
import { type Pipeline, pipelinesQuery } from "../../features/documents/queries";
import { tagNodesQuery } from "../../features/documents/tags";
import { Button, ButtonLink } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { SearchColumn } from "./SearchColumn";
import { SearchForm } from "./SearchForm";
import { MODES, type SearchSettings, settingsOf } from "./settings";
import "./search.css";
import { QueryState } from "../../ui/QueryState";

export default function SearchPage() {
  const pipelines = useQuery(pipelinesQuery);
  return (
    <Page
      title="Search lab"
      description="One query by words (BM25), by vectors (dense) and by both (hybrid), with the scores of each passage."
    >
      <QueryState query={pipelines} label="Pipelines" />
      {pipelines.data?.length === 0 && (
        <Empty icon={FlaskConical} title="There are no documents to search">
          <ButtonLink href="/documents" kind="primary">
            Go to documents
          </ButtonLink>
        </Empty>
      )}
      {pipelines.data?.[0] && <SearchLab pipelines={pipelines.data} first={pipelines.data[0]} />}
    </Page>
  );
}

function SearchLab({ pipelines, first }: { pipelines: Pipeline[]; first: Pipeline }) {
  const [search, setSearch] = useSearchParams();
  const pipeline = pipelines.find(({ id }) => id === search.get("pipeline")) ?? first;
  const settings = settingsOf(search, pipeline);
  const set = (values: Record<string, string>) =>
    setSearch((search) => {
      for (const [name, value] of Object.entries(values)) {
        if (value === "") search.delete(name);
        else search.set(name, value);
      }
      return search;
    });
  return (
    <>
      <SearchForm
        key={pipeline.id}
        pipelines={pipelines}
        pipeline={pipeline}
        settings={settings}
        onChange={set}
      />
      {settings.query === "" ? (
        <Empty icon={FlaskConical} title="Enter a query to compare the searches">
          <p>Try a tag, such as V-101, and then a question in words that the documents do not use.</p>
        </Empty>
      ) : (
        <SearchResults
          pipeline={pipeline}
          settings={settings}
          onSearchIn={(classification) => set({ classification })}
        />
      )}
    </>
  );
}

interface SearchResultsProps {
  pipeline: Pipeline;
  settings: SearchSettings;
  onSearchIn: (classification: string) => void;
}

function SearchResults({ pipeline, settings, onSearchIn }: SearchResultsProps) {
  const { query, classification, topK, filter } = settings;
  const results = useQueries({
    queries: MODES.map(({ mode }) => ({
      queryKey: ["search", pipeline.id, mode, query, classification, topK, filter],
      queryFn: () =>
        data(
          api.POST("/api/pipelines/{pipeline_id}/search", {
            params: { path: { pipeline_id: pipeline.id } },
            body: { query, classification, mode, top_k: topK, ...(filter ? { filter } : {}) },
          }),
        ),
      staleTime: 60_000,
    })),
  });
  const hits = results.map((result) => result.data?.contexts ?? []);
  const nodes = useQuery(tagNodesQuery(hits.flat().flatMap((hit) => hit.tags))).data;
  const others = pipeline.classifications.filter((other) => other !== classification);
  const isEmpty = (contexts?: unknown[]) => contexts?.length === 0;
  return (
    <>
      {isEmpty(results[0]?.data?.contexts) && (
        <NoMatch classification={classification} others={others} onSearchIn={onSearchIn} />
      )}
      {!results.every((result) => isEmpty(result.data?.contexts)) && (
        <div className="search-columns">
          {MODES.map((row, index) => {
            const result = results[index];
            return (
              result && (
                <SearchColumn
                  key={row.mode}
                  row={row}
                  pipelineId={pipeline.id}
                  query={query}
                  result={result.data}
                  error={result.error}
                  onRetry={() => result.refetch()}
                  hybrid={results[0]?.data?.contexts}
                  nodes={nodes}
                />
              )
            );
          })}
        </div>
      )}
    </>
  );
}

interface NoMatchProps {
  classification: string;
  others: string[];
  onSearchIn: (classification: string) => void;
}

/** Shown if the hybrid search, which is the default, finds nothing: other classifications are not searched. */
function NoMatch({ classification, others, onSearchIn }: NoMatchProps) {
  return (
    <Empty icon={FlaskConical} title={`The hybrid search finds nothing under ${classification}`}>
      {others.length > 0 && <p>Documents of other classifications are not searched.</p>}
      <div className="row">
        {others.map((other) => (
          <Button key={other} onPress={() => onSearchIn(other)}>
            Search in {other}
          </Button>
        ))}
      </div>
    </Empty>
  );
}
