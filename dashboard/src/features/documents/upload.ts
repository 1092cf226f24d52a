/** Sends a file with progress, which `fetch` does not report. */
import { noteStatus } from "../../api/client";
import { ApiProblem, type ProblemFields } from "../../api/problem";
import type { PlatformDocument } from "./queries";

interface UploadRequest {
  method: "POST" | "PUT";
  url: string;
  body: FormData | File;
  headers?: Record<string, string>;
  onProgress: (sentBytes: number) => void;
  signal?: AbortSignal;
}

/** Attempts of a request that the service has no room for. */
const ATTEMPTS = 5;

export async function uploadFile<T = PlatformDocument>(request: UploadRequest): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendOnce<T>(request);
    } catch (error) {
      const wait = error instanceof ApiProblem && isBusy(error) ? error.retryAfter : null;
      if (wait === null || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    }
  }
}

function isBusy({ fields }: ApiProblem): boolean {
  return fields.status === 429 || fields.status === 503;
}

function sendOnce<T>({ method, url, body, headers = {}, onProgress, signal }: UploadRequest) {
  return new Promise<T>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => onProgress(event.loaded);
    request.onload = () => {
      noteStatus(request.status);
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(problemOf(request));
    };
    request.onerror = () =>
      reject(new ApiProblem({ status: 0, code: "unreachable", title: "The service cannot be reached" }));
    request.onabort = () => reject(new DOMException("The upload was cancelled", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

function problemOf(request: XMLHttpRequest): ApiProblem {
  const status = request.status;
  let fields: ProblemFields = { status, code: "unknown", title: `The service returned status ${status}` };
  try {
    fields = { ...fields, ...(JSON.parse(request.responseText) as Partial<ProblemFields>) };
  } catch {
    // The body is no problem, such as that of a proxy: its status says enough.
  }
  return new ApiProblem(fields, request.getResponseHeader("Retry-After"));
}
