/** Hostile texts in every place where the API stores a text, and their removal. */
import type { Page } from "@playwright/test";
import { HOSTILE_TEXTS, LONG_TEXTS } from "./hostileTexts";

/** A drawing whose every text is hostile; its id is one too, within the characters of an id. */
export const GRAPH_ID = "constructor";

/** Names that an object or a path may confuse with something else. */
const GRAPH_IDS = [GRAPH_ID, "__proto__", "..a", "index.html", "@:~"];

/** Texts that fit into a name. */
const NAMES = HOSTILE_TEXTS.filter((text) => text.trim() === text && [...text].length <= 128);

export interface HostileData {
  pipelineId: string;
  classifications: string[];
  documents: { id: string; filename: string }[];
  keys: { id: string; name: string }[];
  webhooks: { id: string; url: string }[];
  connections: { id: string; name: string }[];
  accounts: { login: string }[];
  clients: { id: string }[];
  otherPipelineIds: string[];
}

/** Fields of responses of the API that these tests read. */
interface Body {
  id: string;
  name: string;
  login: string;
  filename: string;
  url: string;
  classifications: string[];
  status: string;
  data: Body[];
}

interface Answer {
  status: number;
  body: Body;
}

/** Sends a request from the page, as its scripts do. */
export async function send(page: Page, method: string, path: string, body?: unknown): Promise<Answer> {
  return page.evaluate(
    async ({ method, path, body }) => {
      const json = { headers: { "Content-Type": "application/json" }, body };
      const response = await fetch(path, { method, ...(body === null ? {} : json) });
      const text = await response.text();
      return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : null };
    },
    { method, path, body: body === undefined ? null : JSON.stringify(body) },
  );
}

export async function createHostileData(page: Page, modelUrl: string): Promise<HostileData> {
  for (const id of GRAPH_IDS) {
    await made(page, [hostileGraph()], "PUT", `/graph/${encodeURIComponent(id)}`, (graph) => graph);
  }
  const pipeline = (name: string, classifications: string[]) => ({
    name,
    classifications,
    description: HOSTILE_TEXTS.join(" ").slice(0, 2000),
    embedding_model: "hash-512",
    text_splitter: "markdown",
    metadata: Object.fromEntries(NAMES.slice(0, 20).map((text) => [text, text])),
  });
  const classifications = NAMES.filter((text) => [...text].length <= 64).slice(0, 60);
  const [main] = await made(page, ["<b>Unit</b> 666"], "POST", "/api/pipelines", (name) =>
    pipeline(name, [...classifications, "__proto__"]),
  );
  const pipelineId = main?.id ?? "";
  const others = await made(page, NAMES.slice(0, 20), "POST", "/api/pipelines", (name) =>
    pipeline(name, ["constructor"]),
  );
  const access = (name: string) => ({ classifications: [name], verbs: ["read"] });
  return {
    pipelineId,
    classifications: main?.classifications ?? [],
    otherPipelineIds: others.map(({ id }) => id),
    documents: await uploadDocuments(page, pipelineId, main?.classifications[0] ?? ""),
    keys: await made(page, NAMES, "POST", "/api/keys", (name, index) => ({
      name,
      scopes: ["query"],
      pipelines: { [pipelineId]: access(main?.classifications[index] ?? "__proto__") },
    })),
    webhooks: await made(page, NAMES, "POST", "/api/webhooks", (text) => ({
      url: /^[a-z]+:/i.test(text) ? text : `https://hooks.invalid/${text}`,
    })),
    connections: await made(page, NAMES.slice(0, 12), "POST", "/api/llm-connections", (name) => ({
      name,
      api_key: "none",
      model: name,
      base_url: modelUrl,
    })),
    accounts: await made(page, NAMES, "POST", "/accounts", (login) => ({
      login,
      role: "viewer",
      password: "a long password of a test",
      groups: [],
    })),
    clients: await made(page, NAMES.slice(0, 12), "POST", "/clients", (title) => ({
      title,
      scopes: ["read"],
    })),
  };
}

export async function deleteHostileData(page: Page, data: HostileData): Promise<void> {
  const remove = (path: string) => send(page, "DELETE", path);
  for (const id of GRAPH_IDS) await remove(`/graph/${encodeURIComponent(id)}`);
  for (const { id } of data.keys) await remove(`/api/keys/${id}`);
  for (const { id } of data.webhooks) await remove(`/api/webhooks/${id}`);
  for (const { id } of data.connections) await remove(`/api/llm-connections/${id}`);
  for (const { login } of data.accounts) await remove(`/accounts/${encodeURIComponent(login)}`);
  for (const { id } of data.clients) await remove(`/clients/${encodeURIComponent(id)}`);
  for (const id of [data.pipelineId, ...data.otherPipelineIds]) await remove(`/api/pipelines/${id}`);
}

/** Sends a body for each text; returns what was made. The API may reject a text, but not fail on it. */
async function made<T>(
  page: Page,
  texts: T[],
  method: string,
  path: string,
  body: (text: T, index: number) => unknown,
): Promise<Body[]> {
  const bodies: Body[] = [];
  for (const [index, text] of texts.entries()) {
    const answer = await send(page, method, path, body(text, index));
    if (answer.status >= 500) throw new Error(`${path}: ${answer.status} for ${JSON.stringify(text)}`);
    if (answer.status < 300) bodies.push(answer.body);
  }
  if (bodies.length === 0) throw new Error(`${path} took none of the texts`);
  return bodies;
}

/** A line of items with a hostile text in the id, tag, name, class, line, fields and attributes of each. */
function hostileGraph() {
  const texts = [...HOSTILE_TEXTS, ...LONG_TEXTS];
  const nodes = texts.map((text, index) => ({
    id: text,
    tag: text,
    name: text,
    service: text,
    node_type: "pid_component",
    node_classification: index % 3 === 0 ? text : index % 3 === 1 ? "valve.gate_valve" : "equipment.pump",
    pid_line_number: text,
    [text]: text,
    attributes: [
      { name: text, value: text, unit: text },
      { name: "x", value: { [text]: text } },
    ],
    orig_x: 100 * (index % 15),
    orig_y: 100 * Math.floor(index / 15),
  }));
  const edges = texts.slice(1).map((text, index) => ({
    id: `edge ${text}`,
    source: texts[index],
    target: text,
    label: text,
    edge_type: index % 2 === 0 ? "solid" : text,
    edge_classification: text,
  }));
  return {
    pid_graph: {
      nodes,
      edges,
      metadata: { drawing_name: HOSTILE_TEXTS[5], title: HOSTILE_TEXTS[0], [HOSTILE_TEXTS[1] ?? ""]: "x" },
    },
    [HOSTILE_TEXTS[2] ?? ""]: HOSTILE_TEXTS,
  };
}

/** One small document for each file name, and three with all texts. */
async function uploadDocuments(
  page: Page,
  pipelineId: string,
  classification: string,
): Promise<HostileData["documents"]> {
  const body = HOSTILE_TEXTS.join("\n\n");
  const all = ["txt", "md", "html"].map((kind) => ({ name: `all-texts.${kind}`, body }));
  const named = NAMES.map((text) => ({ name: `${text}.txt`, body: text }));
  const documents: HostileData["documents"] = [];
  for (const file of [...all, ...named]) {
    const answer = await page.evaluate(
      async ({ file, pipelineId, classification }) => {
        const form = new FormData();
        form.set("classification", classification);
        form.set("metadata", JSON.stringify({ [file.name]: file.name }));
        form.set("file", new File([file.body], file.name));
        const response = await fetch(`/api/pipelines/${pipelineId}/documents`, {
          method: "POST",
          body: form,
        });
        return { status: response.status, body: await response.json() };
      },
      { file, pipelineId, classification },
    );
    if (answer.status >= 500) throw new Error(`upload: ${answer.status} for ${JSON.stringify(file.name)}`);
    if (answer.status < 300) documents.push(answer.body);
  }
  return documents;
}
