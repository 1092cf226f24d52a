/** Typed HTTP client of the API. Its types are generated from the OpenAPI document by `npm run generate`. */
import createClient, { type Middleware } from "openapi-fetch";
import { ApiProblem, problemOf } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

const ignore = () => {};

/** Called on a 401: the session may have ended. */
let onSignedOut: () => void = ignore;

/** Sets the handler until the returned function is called. */
export function setSignedOutHandler(handler: () => void): () => void {
  onSignedOut = handler;
  return () => {
    onSignedOut = ignore;
  };
}

/** Looks at the status of a response that was not read by `checked`. */
export function noteStatus(status: number): void {
  if (status === 401) onSignedOut();
}

/** Throws the problem of an unsuccessful response. */
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  noteStatus(response.status);
  throw await problemOf(response);
}

const throwProblems: Middleware = {
  onResponse: ({ response }) => checked(response),
  onError: () => new ApiProblem({ status: 0, code: "unreachable", title: "The service cannot be reached" }),
};

/** `const { data } = await api.GET("/api/pipelines")`; throws `ApiProblem`. */
export const api = createClient<paths>({ baseUrl: "" });
api.use(throwProblems);

/** The data of a successful response that has a body. */
export async function data<T>(response: Promise<{ data?: T }>): Promise<T> {
  const { data } = await response;
  if (data === undefined) throw new ApiProblem({ status: 0, code: "empty", title: "The response is empty" });
  return data;
}
