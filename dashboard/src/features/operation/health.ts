/** Health of the service, as `/readyz` tells it. */
import { queryOptions } from "@tanstack/react-query";

export type HealthState = "ready" | "degraded" | "not-ready" | "unreachable";

export interface Health {
  state: HealthState;
  /** Names of the parts that do not work, if the service is degraded. */
  parts: string[];
}

export const UNREACHABLE: Health = { state: "unreachable", parts: [] };

/** The statuses of a server in front of a service that does not respond. */
const GATEWAY_STATUSES = [502, 504];

/** Reads a response of `/readyz`: "ready", and on a second line `degraded: ["dense search"]`. */
export function readHealth(status: number, text: string): Health {
  if (GATEWAY_STATUSES.includes(status)) return UNREACHABLE;
  if (status !== 200) return { state: "not-ready", parts: [] };
  const parts = degradedParts(text);
  return { state: parts.length > 0 ? "degraded" : "ready", parts };
}

function degradedParts(text: string): string[] {
  const line = text.split("\n").find((line) => line.startsWith("degraded:"));
  const list = line?.slice("degraded:".length).trim() ?? "";
  if (list === "" || list === "[]") return [];
  try {
    const parts: unknown = JSON.parse(list);
    if (Array.isArray(parts)) return parts.map(String);
  } catch {
    // Not the form of today: the text says it as well.
  }
  return [list];
}

/** Time between requests in milliseconds. Hidden tabs make none. */
const INTERVAL = { works: 30_000, fails: 5_000 };

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: async ({ signal }): Promise<Health> => {
    const response = await fetch("/readyz", { signal }).catch(() => null);
    return response ? readHealth(response.status, await response.text()) : UNREACHABLE;
  },
  refetchInterval: ({ state }) =>
    state.data && state.data.state !== "ready" ? INTERVAL.fails : INTERVAL.works,
  // The service may be well while the session has ended.
  networkMode: "always",
  staleTime: 5_000,
});
