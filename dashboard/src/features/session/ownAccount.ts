/** The account of the person who uses the dashboard. */
import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { useSession } from "./session";

/** Fails on a service without accounts, and on one that is older than this page. */
const ownAccountQuery = queryOptions({
  queryKey: ["own-account"],
  queryFn: () => data(api.GET("/account")),
  staleTime: 60_000,
  retry: false,
});

/** The account; nothing is read without one. */
export function useOwnAccount() {
  const session = useSession().data;
  return useQuery({ ...ownAccountQuery, enabled: session?.signed_in === true && session.auth === "tokens" });
}

export function useChangePassword() {
  return useMutation({
    mutationFn: (body: Schemas["PasswordRequest"]) => api.PUT("/account/password", { body }),
  });
}

/** Returns whether the person has the rights of an administrator, as everyone has without accounts. */
export function useIsAdministrator(): boolean {
  return useOwnAccount().data?.admin !== false;
}
