/** OAuth clients, and changes of accounts. */
import { queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { useChange } from "../../api/useChange";
import { accountsQuery } from "../../features/access/accounts";

export type OAuthClient = Schemas["OAuthClient"];

export const ROLES = [
  { id: "viewer", label: "Viewer", description: "Reads and queries graphs." },
  { id: "editor", label: "Editor", description: "Also stores graphs." },
  { id: "admin", label: "Administrator", description: "Has all rights in the tenant." },
];

export const clientsQuery = queryOptions({
  queryKey: ["clients"],
  queryFn: async () => (await data(api.GET("/clients"))).clients,
});

export function useCreateAccount() {
  return useChange(accountsQuery.queryKey, (body: Schemas["AccountRequest"]) =>
    data(api.POST("/accounts", { body })),
  );
}

export function useChangeAccount() {
  return useChange(
    accountsQuery.queryKey,
    ({ login, patch }: { login: string; patch: Schemas["AccountPatch"] }) =>
      data(api.PATCH("/accounts/{login}", { params: { path: { login } }, body: patch })),
  );
}

export function useDeleteAccount() {
  return useChange(accountsQuery.queryKey, (login: string) =>
    api.DELETE("/accounts/{login}", { params: { path: { login } } }),
  );
}

export function useCreateClient() {
  return useChange(clientsQuery.queryKey, (body: Schemas["ClientRequest"]) =>
    data(api.POST("/clients", { body })),
  );
}

export function useDisableClient() {
  return useChange(
    clientsQuery.queryKey,
    ({ client_id, disabled }: { client_id: string; disabled: boolean }) =>
      data(api.PATCH("/clients/{client_id}", { params: { path: { client_id } }, body: { disabled } })),
  );
}

export function useRotateClient() {
  return useChange(clientsQuery.queryKey, (client_id: string) =>
    data(api.POST("/clients/{client_id}/rotate", { params: { path: { client_id } } })),
  );
}

export function useDeleteClient() {
  return useChange(clientsQuery.queryKey, (client_id: string) =>
    api.DELETE("/clients/{client_id}", { params: { path: { client_id } } }),
  );
}
