/** The page "API": the endpoints of the service, and requests to them with the session. */
import { useQuery } from "@tanstack/react-query";
import { Braces } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { checked } from "../../api/client";
import { Empty } from "../../ui/Empty";
import { SearchField } from "../../ui/fields";
import { Page } from "../../ui/Page";
import "./api.css";
import { QueryState } from "../../ui/QueryState";
import { EndpointView } from "./EndpointView";
import { type Endpoint, endpointsOf, GROUP_NAMES, type OpenApi } from "./openapi";

export default function ApiPage() {
  const document = useQuery({
    queryKey: ["openapi"],
    queryFn: async (): Promise<OpenApi> => (await checked(await fetch("/openapi.json"))).json(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Page title="API" layout="full" description="Requests from this page use your session.">
      <QueryState query={document} label="Endpoints" />
      {document.data && <Endpoints document={document.data} />}
    </Page>
  );
}

function Endpoints({ document }: { document: OpenApi }) {
  const [search, setSearch] = useSearchParams();
  const [filter, setFilter] = useState("");
  const endpoints = endpointsOf(document);
  const selected = endpoints.find((endpoint) => endpoint.id === search.get("endpoint"));
  const shown = endpoints.filter((endpoint) => matches(endpoint, filter));
  return (
    <div className="api-columns" data-selected={selected !== undefined || undefined}>
      <nav className="api-list" aria-label="Endpoints">
        <SearchField label="Find an endpoint" value={filter} onChange={setFilter} />
        {shown.length === 0 && <p className="muted">No endpoint contains this text.</p>}
        {GROUP_NAMES.filter((group) => shown.some((endpoint) => endpoint.group === group)).map((group) => (
          <section key={group} aria-label={group}>
            <h2>{group}</h2>
            <ul>
              {shown
                .filter((endpoint) => endpoint.group === group)
                .map((endpoint) => (
                  <li key={endpoint.id}>
                    <button
                      type="button"
                      aria-current={endpoint === selected || undefined}
                      title={endpoint.summary}
                      onClick={() => setSearch({ endpoint: endpoint.id })}
                    >
                      <span className="api-method" data-method={endpoint.method}>
                        {endpoint.method}
                      </span>
                      <code>{endpoint.path}</code>
                    </button>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
      <div className="api-detail">
        {selected ? (
          <EndpointView
            key={selected.id}
            document={document}
            endpoint={selected}
            onBack={() => setSearch({})}
          />
        ) : (
          <Empty icon={Braces} title="Choose an endpoint">
            <p>It is shown with its parameters and fields, and can be tried at once.</p>
          </Empty>
        )}
      </div>
    </div>
  );
}

function matches(endpoint: Endpoint, filter: string): boolean {
  return `${endpoint.id} ${endpoint.summary}`.toLowerCase().includes(filter.trim().toLowerCase());
}
