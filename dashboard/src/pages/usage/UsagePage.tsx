/** The page "Usage": documents, questions and tokens by day, pipeline and classification. */
import { useQuery } from "@tanstack/react-query";
import { Gauge } from "lucide-react";
import { pipelinesQuery } from "../../features/documents/queries";
import { type UsageRow, usageQuery } from "../../features/operation/queries";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { formatBytes } from "../../ui/format";
import { Page } from "../../ui/Page";
import { QueryState } from "../../ui/QueryState";

export default function UsagePage() {
  const usage = useQuery(usageQuery);
  const pipelines = useQuery(pipelinesQuery);
  const nameOf = (id: string) => pipelines.data?.find((pipeline) => pipeline.id === id)?.name ?? id;
  return (
    <Page title="Usage" description="What was ingested and asked, by day (UTC), pipeline and classification.">
      <QueryState query={usage} label="Usage" />
      {usage.data?.length === 0 && (
        <Empty icon={Gauge} title="No usage yet">
          <p>Upload a document or ask a question, and the day appears here.</p>
        </Empty>
      )}
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
      cell: (row) => formatBytes(row.bytes),
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
