/** Endpoints of the OpenAPI document, as the page shows them. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  default?: unknown;
  example?: unknown;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Operation {
  summary?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses?: Record<string, { description?: string; content?: Record<string, { schema?: Schema }> }>;
  security?: Record<string, string[]>[];
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

export interface Endpoint {
  /** Such as `get /graph`. */
  id: string;
  method: string;
  path: string;
  group: string;
  summary: string;
  scopes: string[];
  parameters: Parameter[];
  body: { type: string; schema: Schema } | null;
  responses: { status: string; description: string; type: string | null; schema: Schema | null }[];
}

/** The first row whose pattern matches a path gives its group. */
const GROUPS: [RegExp, string][] = [
  [/^\/(graph|functions)/, "Graphs and queries"],
  [/^\/api\/pipelines\/\{[^}]*\}\/documents/, "Documents"],
  [/^\/api\/(pipelines\/\{[^}]*\}\/(search|query)|queries)/, "Search and answers"],
  [/^\/api\/(pipelines|operations|embedding|text-splitters)/, "Pipelines"],
  [/^\/api\/llm/, "Model connections"],
  [/^\/api\/keys|^\/o\/|^\/\.well-known/, "Keys and tokens"],
  [/^\/api\/(events|webhooks)/, "Events and webhooks"],
  [/./, "Service"],
];

export const GROUP_NAMES = GROUPS.map(([, name]) => name);

/** Body formats, the one that the page offers first. */
const BODY_TYPES = [
  "application/merge-patch+json",
  "application/json",
  "multipart/form-data",
  "application/x-www-form-urlencoded",
];

export function endpointsOf(document: OpenApi): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => endpoint(path, method, operation)),
  );
}

function endpoint(path: string, method: string, operation: Operation): Endpoint {
  const content = operation.requestBody?.content;
  const type = content && (BODY_TYPES.find((type) => type in content) ?? Object.keys(content)[0]);
  return {
    id: `${method} ${path}`,
    method: method.toUpperCase(),
    path,
    group: GROUPS.find(([pattern]) => pattern.test(path))?.[1] ?? "Service",
    summary: operation.summary ?? "",
    scopes: (operation.security ?? []).flatMap((row) => Object.values(row).flat()),
    parameters: operation.parameters ?? [],
    body: content && type ? { type, schema: content[type]?.schema ?? {} } : null,
    responses: Object.entries(operation.responses ?? {}).map(([status, response]) => {
      const [type, media] = Object.entries(response.content ?? {})[0] ?? [null, null];
      return { status, description: response.description ?? "", type, schema: media?.schema ?? null };
    }),
  };
}

export function resolved(document: OpenApi, schema: Schema): Schema {
  const name = schema.$ref?.split("/").pop();
  const target = name ? document.components?.schemas?.[name] : undefined;
  return target
    ? { ...resolved(document, target), ...(schema.description ? { description: schema.description } : {}) }
    : schema;
}

/** A value that a schema allows, with its required fields (or all, if none is required). */
export function exampleOf(document: OpenApi, given: Schema, depth = 0): unknown {
  const schema = resolved(document, given);
  if (schema.example !== undefined) return schema.example;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const choice = schema.oneOf?.[0] ?? schema.anyOf?.[0];
  if (choice) return exampleOf(document, choice, depth);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => exampleOf(document, part, depth)));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "array")
    return schema.items && depth < 4 ? [exampleOf(document, schema.items, depth + 1)] : [];
  if (type === "object" || schema.properties) return depth < 4 ? exampleObject(document, schema, depth) : {};
  if (type === "string") return "";
  if (type === "integer" || type === "number") return 0;
  return type === "boolean" ? false : null;
}

function exampleObject(document: OpenApi, schema: Schema, depth: number): Record<string, unknown> {
  const properties = Object.entries(schema.properties ?? {});
  const required = properties.filter(([name]) => schema.required?.includes(name));
  const shown = required.length > 0 ? required : properties;
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(document, field, depth + 1)]));
}

/** The type of a schema in a few words, such as `array of string`. */
export function typeText(document: OpenApi, given: Schema): string {
  const schema = resolved(document, given);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return [...new Set(choices.map((choice) => typeText(document, choice)))].join(" | ");
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : (schema.type ?? "any");
  return type === "array" && schema.items ? `array of ${typeText(document, schema.items)}` : type;
}
