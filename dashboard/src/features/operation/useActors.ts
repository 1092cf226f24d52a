/** Names of those whom the audit log names by id: users and API keys. */
import { useQuery } from "@tanstack/react-query";
import { accountName, accountsQuery } from "../access/accounts";
import { keysQuery } from "./queries";

export function useActors(): (actor: string) => string {
  const accounts = useQuery({ ...accountsQuery, retry: false }).data ?? [];
  const keys = useQuery({ ...keysQuery, retry: false }).data ?? [];
  const names = new Map([
    ...accounts.map((account) => [accountName(account), account.login] as const),
    ...keys.map(({ id, name }) => [`key:${id}`, `key ${name}`] as const),
  ]);
  return (actor) => names.get(actor) ?? actor;
}
