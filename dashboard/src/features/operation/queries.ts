/** Lists of the API that the operation pages show. */
import { queryOptions } from "@tanstack/react-query";
import { allRows, PAGE_SIZE } from "../../api/allRows";
import { api, data, type Schemas } from "../../api/client";

export type UsageRow = Schemas["UsageRow"];
export type AuditEntry = Schemas["AuditEntry"];
export type ApiKey = Schemas["ApiKey"];

export const usageQuery = queryOptions({
  queryKey: ["usage"],
  queryFn: () => allRows<UsageRow>((query) => data(api.GET("/api/usage", { params: { query } }))),
});

/** The newest entries of the audit log. */
export const auditQuery = queryOptions({
  queryKey: ["audit"],
  queryFn: async () => (await data(api.GET("/api/audit", { params: { query: { limit: PAGE_SIZE } } }))).data,
});

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: () => allRows<ApiKey>((query) => data(api.GET("/api/keys", { params: { query } }))),
});

export const licenseQuery = queryOptions({
  queryKey: ["license"],
  queryFn: async () => data(api.GET("/api/license")),
});

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: async () => {
    const response = await fetch("/readyz");
    return { isReady: response.ok, text: (await response.text()).trim() };
  },
  refetchInterval: 10_000,
});

export const versionQuery = queryOptions({
  queryKey: ["version"],
  queryFn: async (): Promise<{ name: string; version?: string }> => (await fetch("/version")).json(),
});
