/**
 * Pause of all queries and changes while the session has ended, so that nothing fails, repeats or is lost until the
 * person has signed in again.
 */
import { onlineManager } from "@tanstack/react-query";
import { ApiProblem } from "../../api/problem";

/** Queries do not stop when the browser is offline: a service on the same machine works without a network. */
export function ignoreNetworkState(): void {
  onlineManager.setEventListener(() => undefined);
}

export function pauseRequests(): void {
  onlineManager.setOnline(false);
}

/** Continues with the requests that were rejected or held back. */
export function resumeRequests(): void {
  onlineManager.setOnline(true);
}

/** Returns whether the service rejected a request because there is no session. */
export function isWithoutSession(error: unknown): boolean {
  return error instanceof ApiProblem && error.fields.status === 401;
}
