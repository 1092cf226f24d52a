/** A request of the page and its response, which is shown while it arrives. */
import { useEffect, useRef, useState } from "react";
import type { Endpoint } from "./openapi";
import { bodyOf, headersOf, pathOf, type RequestValues } from "./request";

export interface ReceivedResponse {
  status: number;
  statusText: string;
  headers: [string, string][];
  body: string;
  isCut: boolean;
  milliseconds: number;
}

const MAX_SHOWN = 200_000;

export function useRequest(endpoint: Endpoint) {
  const [response, setResponse] = useState<ReceivedResponse | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);

  const send = async (values: RequestValues) => {
    const current = new AbortController();
    controller.current = current;
    setResponse(null);
    setError(null);
    setRunning(true);
    try {
      await receive(endpoint, values, current.signal, setResponse);
    } catch (error) {
      if (!current.signal.aborted) setError(error);
    } finally {
      setRunning(false);
    }
  };
  return { response, error, isRunning, send, cancel: () => controller.current?.abort() };
}

async function receive(
  endpoint: Endpoint,
  values: RequestValues,
  signal: AbortSignal,
  onProgress: (response: ReceivedResponse) => void,
): Promise<void> {
  const start = performance.now();
  const init = {
    method: endpoint.method,
    headers: headersOf(endpoint, values),
    body: bodyOf(endpoint, values),
    signal,
  };
  const response = await fetch(pathOf(endpoint, values), init);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let body = "";
  const progress = (isCut: boolean) =>
    onProgress({
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers],
      body,
      isCut,
      milliseconds: performance.now() - start,
    });
  progress(false);
  for (;;) {
    const chunk = await reader?.read();
    if (!chunk || chunk.done) return progress(false);
    body += chunk.value;
    if (body.length > MAX_SHOWN) {
      body = body.slice(0, MAX_SHOWN);
      await reader?.cancel();
      return progress(true);
    }
    progress(false);
  }
}
