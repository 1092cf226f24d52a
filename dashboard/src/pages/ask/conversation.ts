/** A conversation with the documents of a pipeline. It lasts until it is cleared, the page is reloaded, or the person signs out. */
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { checked, type Schemas } from "../../api/client";
import { ApiProblem, type ProblemFields } from "../../api/problem";
import { serverEvents } from "../../features/documents/sse";

export type Answer = Schemas["Answer"];
export type ClaimDefect = Schemas["ClaimDefect"];
export type Passage = Schemas["Context"];

export interface Turn {
  id: string;
  question: string;
  classification: string;
  /** Id of the LLM connection; null for quotes. */
  connection: string | null;
  state: "running" | "done" | "stopped" | "failed";
  text: string;
  passages: Passage[];
  answer: Answer | null;
  error: unknown;
}

export interface Question {
  question: string;
  classification: string;
  connection: string | null;
}

/** The number of previous turns that the API accepts. */
const HISTORY = 20;
const NO_TURNS: Turn[] = [];

/** Stops the running requests, by turn. */
const running = new Map<string, AbortController>();

const conversationKey = (pipelineId: string) => ["conversation", pipelineId];

export function useConversation(pipelineId: string) {
  const queries = useQueryClient();
  const { data: turns } = useQuery({
    queryKey: conversationKey(pipelineId),
    queryFn: () => NO_TURNS,
    initialData: NO_TURNS,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const ask = useCallback(
    (question: Question) => startTurn(queries, pipelineId, question),
    [queries, pipelineId],
  );
  const lastQuestion = useCallback(
    () => turnsOf(queries, pipelineId).at(-1)?.question ?? null,
    [queries, pipelineId],
  );
  const clear = () => {
    for (const turn of turns) stopTurn(turn.id);
    queries.setQueryData(conversationKey(pipelineId), NO_TURNS);
  };
  return { turns, ask, lastQuestion, clear };
}

export function stopTurn(id: string): void {
  running.get(id)?.abort();
}

function turnsOf(queries: QueryClient, pipelineId: string): Turn[] {
  return queries.getQueryData<Turn[]>(conversationKey(pipelineId)) ?? NO_TURNS;
}

async function startTurn(queries: QueryClient, pipelineId: string, question: Question): Promise<void> {
  const id = `${Date.now()}-${Math.random()}`;
  const history = historyOf(turnsOf(queries, pipelineId));
  const turn: Turn = { id, ...question, state: "running", text: "", passages: [], answer: null, error: null };
  const key = conversationKey(pipelineId);
  queries.setQueryData<Turn[]>(key, (turns = NO_TURNS) => [...turns, turn]);
  const update = (change: (turn: Turn) => Partial<Turn>) =>
    queries.setQueryData<Turn[]>(key, (turns = NO_TURNS) =>
      turns.map((turn) => (turn.id === id ? { ...turn, ...change(turn) } : turn)),
    );
  const abort = new AbortController();
  running.set(id, abort);
  try {
    await streamAnswer(pipelineId, question, history, abort.signal, update);
    update((turn) => (turn.answer ? { state: "done" } : { state: "failed", error: endedEarly() }));
  } catch (error) {
    update(() => (abort.signal.aborted ? { state: "stopped" } : { state: "failed", error }));
  } finally {
    running.delete(id);
  }
}

async function streamAnswer(
  pipelineId: string,
  { question, classification, connection }: Question,
  history: Schemas["HistoryTurn"][],
  signal: AbortSignal,
  update: (change: (turn: Turn) => Partial<Turn>) => void,
): Promise<void> {
  const request: Schemas["QuestionRequest"] = {
    query: question,
    classification,
    stream: true,
    include_contexts: true,
    ...(history.length > 0 ? { history } : {}),
    ...(connection ? { llm_connection: connection } : {}),
  };
  const response = await fetch(`/api/pipelines/${encodeURIComponent(pipelineId)}/query`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(request),
    signal,
  });
  const { body } = await checked(response);
  if (!body) throw endedEarly();
  for await (const { event, data } of serverEvents(body)) {
    const fields = JSON.parse(data);
    if (event === "retrieval") update(() => ({ passages: fields.contexts as Passage[] }));
    if (event === "delta") update((turn) => ({ text: turn.text + String(fields.text) }));
    if (event === "error") throw new ApiProblem(fields as ProblemFields);
    if (event === "done") {
      const answer = fields as Answer;
      update((turn) => ({ answer, text: answer.answer, passages: answer.contexts ?? turn.passages }));
    }
  }
}

/** The answered turns, oldest first. */
function historyOf(turns: Turn[]): Schemas["HistoryTurn"][] {
  return turns
    .filter((turn) => turn.state === "done" && turn.text !== "")
    .flatMap((turn): Schemas["HistoryTurn"][] => [
      { role: "user", content: turn.question },
      { role: "assistant", content: turn.text },
    ])
    .slice(-HISTORY);
}

function endedEarly(): ApiProblem {
  return new ApiProblem({
    status: 0,
    code: "incomplete",
    title: "The answer ended early",
    detail: "The connection closed before the answer was complete.",
  });
}
