/** The page "Query": queries on the graph of a drawing, with their results. */
import { useQuery } from "@tanstack/react-query";
import { BookOpen, History, Play, Square, SquareTerminal } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import { ApiProblem } from "../../api/problem";
import { graphsQuery } from "../../features/drawing/queries";
import { Findings } from "../../features/query/Findings";
import { Gallery } from "../../features/query/Gallery";
import { HistoryDialog } from "../../features/query/HistoryDialog";
import { Answer, RESULT_VIEWS, type ResultView } from "../../features/query/ResultView";
import { useFindings, useFunctions, useResult, useVocabulary } from "../../features/query/service";
import { applyFix, findingOfProblem, type QueryFinding } from "../../features/query/span";
import { useDebounced } from "../../features/query/useDebounced";
import { EMPTY_VOCABULARY } from "../../features/query/vocabulary";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Select } from "../../ui/fields";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";
import "./query.css";
import { QueryState } from "../../ui/QueryState";
import { useHistory } from "./useHistory";

const QueryEditor = lazy(() => import("../../features/query/QueryEditor"));

const FIRST_QUERY = "valveList()";

export default function QueryPage() {
  const graphs = useQuery(graphsQuery);
  const [search, setSearch] = useSearchParams();
  const graphId = search.get("graph") ?? graphs.data?.[0]?.job_id ?? null;
  const choices = (graphs.data ?? []).map((graph) => ({
    id: graph.job_id,
    label: graph.drawing_name ?? graph.job_id,
    description: graph.job_id,
  }));
  const select = (
    <Select
      label="Drawing"
      isLabelHidden
      choices={choices}
      value={graphId}
      onChange={(graph) => setSearch((old) => changed(old, { graph }))}
    />
  );
  return (
    <Page title="Query" actions={select} layout="full">
      <QueryState query={graphs} label="Drawings" />
      {graphs.data && graphId === null && (
        <Empty icon={SquareTerminal} title="There is no drawing yet">
          <p>Upload one on the page Drawings, then query it here.</p>
        </Empty>
      )}
      {graphId !== null && (
        <Workbench key={graphId} graphId={graphId} search={search} setSearch={setSearch} />
      )}
    </Page>
  );
}

function changed(search: URLSearchParams, values: Record<string, string>): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values)) next.set(name, value);
  return next;
}

interface WorkbenchProps {
  graphId: string;
  search: URLSearchParams;
  setSearch: ReturnType<typeof useSearchParams>[1];
}

function Workbench({ graphId, search, setSearch }: WorkbenchProps) {
  const ran = search.get("q");
  const [query, setQuery] = useState(ran ?? FIRST_QUERY);
  const [dialog, setDialog] = useState<"gallery" | "history" | null>(null);
  const history = useHistory(graphId);
  const run = useResult(graphId, ran);
  const words = useWords(graphId);
  const findings = useCurrentFindings(graphId, query, ran === query ? run.error : null);
  const view = RESULT_VIEWS.find((id) => id === search.get("result")) ?? "table";
  useEffect(() => {
    if (ran !== null) setQuery(ran);
  }, [ran]);

  const start = (text: string) => {
    if (text.trim() === "") return;
    history.add(text);
    if (text === ran) run.refetch();
    else setSearch((old) => changed(old, { graph: graphId, q: text }));
  };
  const choose = (text: string) => {
    setDialog(null);
    start(text);
  };
  return (
    <>
      <div className="query-input">
        <Suspense fallback={<div className="query-editor" />}>
          <QueryEditor
            value={query}
            onChange={setQuery}
            onRun={() => start(query)}
            words={words}
            findings={findings}
          />
        </Suspense>
        <Findings findings={findings} onFix={(fix) => setQuery(applyFix(query, fix))} />
        <div className="row query-actions">
          {run.isFetching ? (
            <Button kind="danger" onPress={run.cancel}>
              <Square size={15} aria-hidden /> Cancel
            </Button>
          ) : (
            <Button kind="primary" onPress={() => start(query)}>
              <Play size={15} aria-hidden /> Run
            </Button>
          )}
          <span className="grow muted query-keys">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </span>
          <Button kind="quiet" onPress={() => setDialog("gallery")}>
            <BookOpen size={16} aria-hidden /> Questions
          </Button>
          <Button kind="quiet" onPress={() => setDialog("history")}>
            <History size={16} aria-hidden /> History
          </Button>
        </div>
      </div>
      <Outcome
        graphId={graphId}
        run={run}
        isExplained={findings.some((finding) => finding.severity === "error")}
        view={view}
        onView={(result) => setSearch((old) => changed(old, { result }), { replace: true })}
        onGallery={() => setDialog("gallery")}
      />
      <Gallery isOpen={dialog === "gallery"} onClose={() => setDialog(null)} onChoose={choose} />
      <HistoryDialog
        isOpen={dialog === "history"}
        onClose={() => setDialog(null)}
        history={history.entries}
        onChoose={choose}
        onChange={history.replace}
      />
    </>
  );
}

interface OutcomeProps {
  graphId: string;
  run: ReturnType<typeof useResult>;
  /** Set if the error is shown at its place in the query. */
  isExplained: boolean;
  view: ResultView;
  onView: (view: ResultView) => void;
  onGallery: () => void;
}

function Outcome({ graphId, run, isExplained, view, onView, onGallery }: OutcomeProps) {
  if (run.isFetching) return <Loading label="Running the query" />;
  if (run.error) return isExplained ? null : <ProblemMessage error={run.error} />;
  if (run.data) return <Answer graphId={graphId} answer={run.data} view={view} onView={onView} />;
  return (
    <Empty icon={SquareTerminal} title="Run a query, or start from a question">
      <p>The editor completes functions, fields, tags and values of the drawing.</p>
      <p>
        <Button onPress={onGallery}>
          <BookOpen size={16} aria-hidden /> Choose a question
        </Button>
      </p>
    </Empty>
  );
}

function useWords(graphId: string) {
  const functions = useFunctions();
  const vocabulary = useVocabulary(graphId);
  return { functions: functions.data ?? [], vocabulary: vocabulary.data ?? EMPTY_VOCABULARY };
}

const NO_FINDINGS: QueryFinding[] = [];

/** The error of the last run of this text, otherwise the findings of the check while typing. */
function useCurrentFindings(graphId: string, query: string, error: unknown): QueryFinding[] {
  const rested = useDebounced(query, 300);
  const checked = useFindings(graphId, rested);
  const failed = useMemo(() => {
    const finding = error instanceof ApiProblem ? findingOfProblem(query, error.fields) : null;
    return finding && [finding];
  }, [query, error]);
  return failed ?? (rested === query ? checked.data : null) ?? NO_FINDINGS;
}
