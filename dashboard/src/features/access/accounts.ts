/** The accounts of the tenant, and their limits in the document platform. */
import { queryOptions } from "@tanstack/react-query";
import { allRows } from "../../api/allRows";
import { api, data, type Schemas } from "../../api/client";
import { useChange } from "../../api/useChange";
import type { AccessRules } from "./accessRules";

export type Account = Schemas["Account"];
export type AccountLimit = Schemas["AccountLimit"];

export const accountsQuery = queryOptions({
  queryKey: ["accounts"],
  queryFn: async () => (await data(api.GET("/accounts"))).accounts,
});

export const accountLimitsQuery = queryOptions({
  queryKey: ["account-limits"],
  queryFn: () =>
    allRows<AccountLimit>((query) => data(api.GET("/api/account-limits", { params: { query } }))),
});

/** Name of an account in limits and in the audit log. */
export const accountName = ({ id }: Account) => `user:${id}`;

/** Sets the limit of an account; null removes it. */
export function useLimitAccount() {
  return useChange(
    accountLimitsQuery.queryKey,
    async ({ account, rules }: { account: string; rules: AccessRules | null }) => {
      const params = { path: { account } };
      if (rules === null) await api.DELETE("/api/account-limits/{account}", { params });
      else await data(api.PUT("/api/account-limits/{account}", { params, body: { pipelines: rules } }));
    },
  );
}
