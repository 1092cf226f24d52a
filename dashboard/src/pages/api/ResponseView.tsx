/** The response to a request: status, headers and body. */
import { Badge } from "../../ui/Badge";
import type { ReceivedResponse } from "./useRequest";

export function ResponseView({ response }: { response: ReceivedResponse }) {
  return (
    <section className="stack" aria-label="Response">
      <div className="row" role="status">
        <h3>Response</h3>
        <Badge tone={response.status < 400 ? "success" : "danger"}>
          {response.status} {response.statusText}
        </Badge>
        <span className="muted">{new Intl.NumberFormat().format(Math.round(response.milliseconds))} ms</span>
      </div>
      <details>
        <summary>{response.headers.length} headers</summary>
        <pre className="api-code">
          {response.headers.map(([name, value]) => `${name}: ${value}`).join("\n")}
        </pre>
      </details>
      <pre className="api-code" tabIndex={0} role="region" aria-label="Body of the response">
        {bodyText(response) || "No body"}
      </pre>
      {response.isCut && <p className="muted">The rest of the body is not shown.</p>}
    </section>
  );
}

function bodyText({ body, isCut, headers }: ReceivedResponse): string {
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  if (isCut || !/json$|json;/.test(type) || type.includes("ndjson")) return body;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
