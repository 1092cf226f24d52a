/** The page "Usage": documents, questions and tokens by day, pipeline and classification. */
import { useQuery } from "@tanstack/react-query";
import { pipelinesQuery, type UsageRow, usageQuery } from "../../features/operation/queries";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";

export default function UsagePage() {
  const usage = useQuery(usageQuery);
  const pipelines = useQuery(pipelinesQuery);
  const nameOf = (id: string) => pipelines.data?.find((pipeline) => pipeline.id === id)?.name ?? id;
  return (
    <Page title="Usage" description="What was ingested and asked, by day (UTC), pipeline and classification.">
      {usage.isPending && <Loading label="Usage" />}
      {usage.isError && <ProblemMessage error={usage.error} onRetry={() => usage.refetch()} />}
      {usage.data?.length === 0 && <p className="muted">Nothing was ingested or asked yet.</p>}
      {usage.data && usage.data.length > 0 && (
        <DataTable
          label="Usage"
          columns={columns(nameOf)}
          rows={usage.data}
          rowKey={(row) => `${row.day} ${row.pipeline_id} ${row.classification}`}
        />
      )}
    </Page>
  );
}

function columns(nameOf: (id: string) => string): TableColumn<UsageRow>[] {
  return [
    { id: "day", header: "Day", value: (row) => row.day },
    { id: "pipeline", header: "Pipeline", value: (row) => nameOf(row.pipeline_id) },
    { id: "classification", header: "Classification", value: (row) => row.classification },
    { id: "documents", header: "Documents", value: (row) => row.documents, align: "end" },
    {
      id: "bytes",
      header: "Size",
      value: (row) => row.bytes,
      cell: (row) => sizeText(row.bytes),
      align: "end",
    },
    { id: "questions", header: "Questions", value: (row) => row.questions, align: "end" },
    { id: "failed", header: "Failed", value: (row) => row.failed_questions, align: "end" },
    {
      id: "tokens",
      header: "Tokens",
      value: (row) => row.prompt_tokens + row.completion_tokens,
      cell: (row) =>
        `${row.estimated ? "about " : ""}${(row.prompt_tokens + row.completion_tokens).toLocaleString()}`,
      align: "end",
    },
  ];
}

/** A size in bytes for people: `1.5 kB`. */
export function sizeText(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const format = new Intl.NumberFormat(undefined, {
    style: "unit",
    unit: units[power] ?? "byte",
    maximumFractionDigits: 1,
  });
  return format.format(bytes / 1000 ** power);
}
