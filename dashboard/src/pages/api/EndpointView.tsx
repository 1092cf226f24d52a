/** One endpoint: what it takes, a form that sends a request, and the response. */
import { ArrowLeft, Send, Square } from "lucide-react";
import { useState } from "react";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Confirm } from "../../ui/Dialog";
import { Select, TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";
import {
  type Endpoint,
  exampleOf,
  type OpenApi,
  type Parameter,
  resolved,
  type Schema,
  typeText,
} from "./openapi";
import { ResponseView } from "./ResponseView";
import { curlOf, isForwarded, type RequestValues, takesFile } from "./request";
import { useRequest } from "./useRequest";

interface EndpointProps {
  document: OpenApi;
  endpoint: Endpoint;
  onBack: () => void;
}

export function EndpointView({ document, endpoint, onBack }: EndpointProps) {
  const [values, setValues] = useState<RequestValues>(() => firstValues(document, endpoint));
  const [isConfirming, setConfirming] = useState(false);
  const request = useRequest(endpoint);
  const curl = curlOf(endpoint, values);
  const missing = endpoint.parameters.filter(({ name, required }) => required && !values.parameters[name]);
  const send = () => {
    setConfirming(false);
    request.send(values);
  };
  return (
    <div className="stack">
      <EndpointHead endpoint={endpoint} onBack={onBack} />
      <RequestFields document={document} endpoint={endpoint} values={values} onChange={setValues} />
      <div className="row">
        {request.isRunning ? (
          <Button kind="danger" onPress={request.cancel}>
            <Square size={15} aria-hidden /> Stop
          </Button>
        ) : (
          <Button
            kind="primary"
            isDisabled={missing.length > 0 || !isForwarded(endpoint)}
            onPress={() => (endpoint.method === "DELETE" ? setConfirming(true) : send())}
          >
            <Send size={15} aria-hidden /> Send
          </Button>
        )}
        {!isForwarded(endpoint) && (
          <span className="muted">Only the API itself has this endpoint; use the command below.</span>
        )}
        {isForwarded(endpoint) && missing.length > 0 && (
          <span className="muted">Required: {missing.map(({ name }) => name).join(", ")}</span>
        )}
      </div>
      {request.error !== null && <ProblemMessage error={request.error} />}
      {request.response && <ResponseView response={request.response} />}
      <section aria-label="Command" className="stack">
        <div className="row">
          <h3 className="grow">The same request with curl</h3>
          <CopyButton text={curl} label="Copy the command" />
        </div>
        <p className="muted">
          <code>$PIDQ_URL</code> is the address of the API, such as <code>http://127.0.0.1:8000</code>;{" "}
          <code>$TOKEN</code> is an API key or an access token.
        </p>
        <pre className="api-code" tabIndex={0} role="region" aria-label="Command with curl">
          {curl}
        </pre>
      </section>
      {endpoint.body && (
        <Fields title="Fields of the body" document={document} schema={endpoint.body.schema} />
      )}
      <Responses document={document} endpoint={endpoint} />
      <Confirm
        title="Send this request?"
        isOpen={isConfirming}
        action="Send"
        onConfirm={send}
        onClose={() => setConfirming(false)}
      >
        <p>It deletes data of this service: {endpoint.summary}</p>
      </Confirm>
    </div>
  );
}

function firstValues(document: OpenApi, endpoint: Endpoint): RequestValues {
  if (!endpoint.body || endpoint.body.type === "*/*") return { parameters: {}, body: "", file: null };
  const example = exampleOf(document, endpoint.body.schema) as Record<string, unknown>;
  if (endpoint.body.type === "application/x-www-form-urlencoded") {
    return {
      parameters: {},
      body: new URLSearchParams(example as Record<string, string>).toString(),
      file: null,
    };
  }
  if (takesFile(endpoint)) delete example.file;
  return { parameters: {}, body: JSON.stringify(example, null, 2), file: null };
}

function EndpointHead({ endpoint, onBack }: { endpoint: Endpoint; onBack: () => void }) {
  return (
    <div className="stack">
      <div className="api-back">
        <Button size="small" kind="quiet" onPress={onBack}>
          <ArrowLeft size={15} aria-hidden /> All endpoints
        </Button>
      </div>
      <h2 className="api-title">
        <span className="api-method" data-method={endpoint.method}>
          {endpoint.method}
        </span>
        <code>{endpoint.path}</code>
      </h2>
      <div className="row">
        <span>{endpoint.summary}</span>
        {endpoint.scopes.map((scope) => (
          <Badge key={scope} tone="accent">
            scope {scope}
          </Badge>
        ))}
      </div>
    </div>
  );
}

interface RequestFieldsProps {
  document: OpenApi;
  endpoint: Endpoint;
  values: RequestValues;
  onChange: (values: RequestValues) => void;
}

function RequestFields({ document, endpoint, values, onChange }: RequestFieldsProps) {
  const set = (name: string, value: string) =>
    onChange({ ...values, parameters: { ...values.parameters, [name]: value } });
  return (
    <>
      {endpoint.parameters.length > 0 && (
        <div className="api-parameters">
          {endpoint.parameters.map((parameter) => (
            <ParameterField
              key={parameter.in + parameter.name}
              parameter={parameter}
              schema={resolved(document, parameter.schema ?? {})}
              value={values.parameters[parameter.name] ?? ""}
              onChange={(value) => set(parameter.name, value)}
            />
          ))}
        </div>
      )}
      {endpoint.body && endpoint.body.type !== "*/*" && (
        <TextField
          label={`Body (${endpoint.body.type})`}
          value={values.body}
          onChange={(body) => onChange({ ...values, body })}
          rows={Math.min(Math.max(values.body.split("\n").length, 3), 16)}
        />
      )}
      {takesFile(endpoint) && (
        <label className="field">
          File
          <input
            className="input"
            type="file"
            onChange={(event) => onChange({ ...values, file: event.target.files?.[0] ?? null })}
          />
        </label>
      )}
    </>
  );
}

interface ParameterFieldProps {
  parameter: Parameter;
  schema: Schema;
  value: string;
  onChange: (value: string) => void;
}

function ParameterField({ parameter, schema, value, onChange }: ParameterFieldProps) {
  const description = `${parameter.description ?? ""} (${parameter.in === "query" ? "URL" : parameter.in})`;
  if (schema.enum) {
    const choices = ["", ...schema.enum.map(String)].map((id) => ({
      id: id || "none",
      label: id || "Not sent",
    }));
    return (
      <Select
        label={parameter.name}
        description={description}
        choices={choices}
        value={value || "none"}
        onChange={(id) => onChange(id === "none" ? "" : id)}
      />
    );
  }
  return (
    <TextField
      label={parameter.name}
      description={description}
      value={value}
      onChange={onChange}
      isRequired={parameter.required === true}
    />
  );
}

/** The fields of an object, or nothing for other values. */
function Fields({ title, document, schema: given }: { title: string; document: OpenApi; schema: Schema }) {
  const schema = resolved(document, given);
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return null;
  return (
    <section aria-label={title} className="stack">
      <h3>{title}</h3>
      <dl className="api-fields">
        {fields.map(([name, field]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
              <small className="muted">
                {typeText(document, field)}
                {schema.required?.includes(name) && ", required"}
              </small>
            </dt>
            <dd>{resolved(document, field).description}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Responses({ document, endpoint }: { document: OpenApi; endpoint: Endpoint }) {
  return (
    <section aria-label="Responses" className="stack">
      <h3>Responses</h3>
      {endpoint.responses.map((response) => (
        <details key={response.status} className="api-response-row">
          <summary>
            <strong>{response.status}</strong> {response.description}{" "}
            {response.type && <code className="muted">{response.type}</code>}
          </summary>
          {response.schema && <Fields title="Fields" document={document} schema={response.schema} />}
        </details>
      ))}
    </section>
  );
}
