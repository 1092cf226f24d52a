/** The page "Overview": whether the service is healthy, what is being ingested, what failed. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { pipelinesQuery } from "../../features/documents/queries";
import { graphsQuery } from "../../features/drawing/queries";
import { healthQuery } from "../../features/operation/health";
import { HEALTH_STATES } from "../../features/operation/healthStates";
import { licenseQuery, versionQuery } from "../../features/operation/queries";
import { Badge } from "../../ui/Badge";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";
import "./overview.css";

export default function OverviewPage() {
  return (
    <Page title="Overview" description="Whether the service works, and what it is working on.">
      <HealthCard />
      <Counts />
      <Pipelines />
    </Page>
  );
}

function HealthCard() {
  const health = useQuery(healthQuery).data;
  const version = useQuery(versionQuery);
  if (!health) return <Loading label="Health" />;
  const { tone, label, advice } = HEALTH_STATES[health.state];
  return (
    <section className="card row" aria-label="Health">
      <Badge tone={tone}>{label.toLowerCase()}</Badge>
      <span className="grow">{health.parts.length > 0 ? health.parts.join(", ") : advice}</span>
      <span className="muted">
        {version.data?.name} {version.data?.version}
      </span>
    </section>
  );
}

function Counts() {
  const graphs = useQuery(graphsQuery);
  const pipelines = useQuery({ ...pipelinesQuery, refetchInterval: 10_000 });
  const license = useQuery(licenseQuery);
  const counts = pipelines.data?.map((pipeline) => pipeline.document_counts) ?? [];
  const sum = (field: "ready" | "processing" | "failed") =>
    counts.reduce((total, count) => total + count[field], 0);
  const rows = [
    { label: "Drawings", value: graphs.data?.length, to: "/drawings" },
    { label: "Documents ready", value: pipelines.data && sum("ready"), to: "/documents" },
    { label: "Being ingested", value: pipelines.data && sum("processing"), to: "/documents" },
    { label: "Failed", value: pipelines.data && sum("failed"), to: "/documents" },
    { label: "Questions today", value: license.data?.usage?.questions_today, to: "/usage" },
  ];
  return (
    <ul className="counts">
      {rows.map((row) => (
        <li key={row.label}>
          <Link to={row.to} className="card count">
            <span className="count-value">{row.value?.toLocaleString() ?? "–"}</span>
            <span className="muted">{row.label}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Pipelines() {
  const pipelines = useQuery(pipelinesQuery);
  if (pipelines.isError)
    return <ProblemMessage error={pipelines.error} onRetry={() => pipelines.refetch()} />;
  if (!pipelines.data) return <Loading label="Pipelines" />;
  return (
    <section className="card stack" aria-label="Pipelines">
      <h2>Pipelines</h2>
      {pipelines.data.length === 0 && <p className="muted">There are none; create one under Documents.</p>}
      <ul className="stack">
        {pipelines.data.map((pipeline) => (
          <li key={pipeline.id} className="row">
            <Link to={`/documents/${pipeline.id}`} className="grow">
              {pipeline.name}
            </Link>
            <Badge tone={pipeline.status === "active" ? "success" : "warning"}>{pipeline.status}</Badge>
            <span className="muted">
              {pipeline.document_counts.ready} of {pipeline.document_counts.total} ready
            </span>
            {pipeline.document_counts.failed > 0 && (
              <Badge tone="danger">{pipeline.document_counts.failed} failed</Badge>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
