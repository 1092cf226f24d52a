/** Lists of the API that the operation pages show. */
import { queryOptions } from "@tanstack/react-query";
import { allRows, PAGE_SIZE } from "../../api/allRows";
import { api, checked, data, type Schemas } from "../../api/client";

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

/** What `/version` tells; a service that does not show its version leaves it out. */
export interface ServiceVersion {
  name: string;
  version?: string;
  [detail: string]: unknown;
}

export const versionQuery = queryOptions({
  queryKey: ["version"],
  queryFn: async (): Promise<ServiceVersion> => (await checked(await fetch("/version"))).json(),
  staleTime: 300_000,
});
