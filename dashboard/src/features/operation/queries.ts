/** Lists of the API that the operation pages show. */
import { queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";

export type Pipeline = Schemas["Pipeline"];
export type UsageRow = Schemas["UsageRow"];
export type AuditEntry = Schemas["AuditEntry"];
export type ApiKey = Schemas["ApiKey"];

/** The number of rows of a page of the API. */
const PAGE = 200;

export const pipelinesQuery = queryOptions({
  queryKey: ["pipelines", "all"],
  queryFn: async () => (await data(api.GET("/api/pipelines", { params: { query: { limit: PAGE } } }))).data,
});

export const usageQuery = queryOptions({
  queryKey: ["usage"],
  queryFn: async () => (await data(api.GET("/api/usage", { params: { query: { limit: PAGE } } }))).data,
});

export const auditQuery = queryOptions({
  queryKey: ["audit"],
  queryFn: async () => (await data(api.GET("/api/audit", { params: { query: { limit: PAGE } } }))).data,
});

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: async () => (await data(api.GET("/api/keys", { params: { query: { limit: PAGE } } }))).data,
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
