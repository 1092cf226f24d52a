/** Lists of the API that the operation pages show. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { allRows, PAGE_SIZE } from "../../api/allRows";
import { api, checked, data, type Schemas } from "../../api/client";

export type UsageRow = Schemas["UsageRow"];
export type AuditEntry = Schemas["AuditEntry"];
export type ApiKey = Schemas["ApiKey"];

export const usageQuery = queryOptions({
  queryKey: ["usage"],
  queryFn: () => allRows<UsageRow>((query) => data(api.GET("/api/usage", { params: { query } }))),
});

/** A time from which, and one before which; null without a bound. */
export interface TimeRange {
  since: Date | null;
  until: Date | null;
}

/** The newest entries of the audit log within a range of time. */
export const auditQuery = ({ since, until }: TimeRange) =>
  queryOptions({
    queryKey: ["audit", since?.toISOString(), until?.toISOString()],
    queryFn: () => {
      const query = {
        limit: PAGE_SIZE,
        ...(since && { since: since.toISOString() }),
        ...(until && { until: until.toISOString() }),
      };
      return data(api.GET("/api/audit", { params: { query } }));
    },
    placeholderData: keepPreviousData,
  });

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: () => allRows<ApiKey>((query) => data(api.GET("/api/keys", { params: { query } }))),
});

export const licenseQuery = queryOptions({
  queryKey: ["license"],
  queryFn: async () => data(api.GET("/api/license")),
});

/** The response of `/version`; a service that does not show its version leaves it out. */
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
