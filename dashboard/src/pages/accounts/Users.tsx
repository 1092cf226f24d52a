/** List of the users of the tenant, with what an administrator can change. */
import { useQuery } from "@tanstack/react-query";
import { FileLock2, KeyRound, Pencil, Trash2, UserPlus } from "lucide-react";
import { useState } from "react";
import { accessText } from "../../features/access/accessRules";
import {
  type Account,
  type AccountLimit,
  accountLimitsQuery,
  accountName,
  accountsQuery,
} from "../../features/access/accounts";
import { useFrame } from "../../features/frame/frame";
import { usePageCommand } from "../../features/frame/pageCommands";
import { type Names, useNames } from "../../features/operation/useNames";
import { useSession } from "../../features/session/session";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Confirm } from "../../ui/Dialog";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { RowAction } from "../../ui/RowAction";
import { SecretDialog, type ShownSecret } from "../../ui/SecretDialog";
import { Time } from "../../ui/Time";
import { showError } from "../../ui/toast";
import { LimitDialog } from "./LimitDialog";
import { PasswordDialog } from "./PasswordDialog";
import { ROLES, useDeleteAccount } from "./queries";
import { UserDialog } from "./UserDialog";

type Open = { kind: "create" } | { kind: "edit" | "delete" | "password" | "limit"; account: Account } | null;

export function Users() {
  const accounts = useQuery(accountsQuery);
  const limits = useQuery(accountLimitsQuery).data ?? [];
  const names = useNames();
  const [open, setOpen] = useState<Open>(null);
  const [shown, setShown] = useState<ShownSecret | null>(null);
  usePageCommand("Add a user", () => setOpen({ kind: "create" }));
  const remove = useDeleteAccount();
  const session = useSession();
  const own = session.data?.signed_in ? session.data.login : null;
  const frame = useFrame();
  const close = () => setOpen(null);
  // The own password needs the current one, and leaves this session signed in.
  const setPassword = (account: Account) =>
    account.login === own ? frame.open("password") : setOpen({ kind: "password", account });
  if (accounts.isError) return <ProblemMessage error={accounts.error} onRetry={() => accounts.refetch()} />;
  return (
    <div className="stack">
      <div className="row">
        <Button kind="primary" onPress={() => setOpen({ kind: "create" })}>
          <UserPlus size={16} aria-hidden /> Add a user
        </Button>
      </div>
      {accounts.data ? (
        <DataTable
          label="Users"
          columns={columns({ own, limits, names, setOpen, setPassword })}
          rows={accounts.data}
          rowKey={(account) => account.login}
        />
      ) : (
        <Loading label="Users" />
      )}
      {(open?.kind === "create" || open?.kind === "edit") && (
        <UserDialog
          account={open.kind === "edit" ? open.account : null}
          onClose={close}
          onSecret={setShown}
        />
      )}
      {open?.kind === "limit" && (
        <LimitDialog account={open.account} limit={limitOf(limits, open.account)} onClose={close} />
      )}
      {open?.kind === "password" && <PasswordDialog account={open.account} onClose={close} />}
      <Confirm
        title="Delete this user?"
        action="Delete"
        isOpen={open?.kind === "delete"}
        isPending={remove.isPending}
        onClose={close}
        onConfirm={() =>
          open?.kind === "delete" &&
          remove.mutate(open.account.login, { onSuccess: close, onError: showError })
        }
      >
        <p>
          <strong>{open?.kind === "delete" && open.account.login}</strong> is signed out at once and cannot
          sign in again. To only suspend the account, disable it instead.
        </p>
      </Confirm>
      <SecretDialog shown={shown} onClose={() => setShown(null)} />
    </div>
  );
}

interface ColumnContext {
  own: string | null;
  limits: AccountLimit[];
  names: Names;
  setOpen: (open: Open) => void;
  setPassword: (account: Account) => void;
}

function columns({ own, limits, names, setOpen, setPassword }: ColumnContext): TableColumn<Account>[] {
  return [
    {
      id: "login",
      header: "Login",
      value: (account) => account.login,
      cell: (account) => (
        <>
          <strong>{account.login}</strong> {account.login === own && <Badge tone="accent">you</Badge>}
        </>
      ),
    },
    { id: "role", header: "Role", value: (account) => roleLabel(account.role) },
    { id: "groups", header: "Groups", value: (account) => account.groups.join(", ") },
    {
      id: "documents",
      header: "Documents",
      value: (account) => documentsText(limitOf(limits, account), names),
    },
    {
      id: "sign-in",
      header: "Sign-in",
      value: (account) => (account.sso_only ? "single sign-on" : "password"),
    },
    {
      id: "state",
      header: "State",
      value: (account) => (account.disabled ? "disabled" : "active"),
      cell: (account) => (
        <Badge tone={account.disabled ? "warning" : "success"}>
          {account.disabled ? "disabled" : "active"}
        </Badge>
      ),
    },
    {
      id: "created",
      header: "Created",
      value: (account) => account.created_at,
      cell: (account) => <Time at={account.created_at} />,
    },
    {
      id: "actions",
      header: "Actions",
      align: "end",
      isUnsortable: true,
      value: () => null,
      cell: (account) => (
        <span className="row-actions">
          <RowAction
            words="Edit"
            subject={account.login}
            icon={<Pencil size={16} aria-hidden />}
            onPress={() => setOpen({ kind: "edit", account })}
          />
          <RowAction
            words="Limit the documents"
            subject={`of ${account.login}`}
            icon={<FileLock2 size={16} aria-hidden />}
            isDisabled={account.role === "admin" && !limitOf(limits, account)}
            onPress={() => setOpen({ kind: "limit", account })}
          />
          <RowAction
            words="Set the password"
            subject={`of ${account.login}`}
            icon={<KeyRound size={16} aria-hidden />}
            isDisabled={account.sso_only}
            onPress={() => setPassword(account)}
          />
          <RowAction
            words="Delete"
            subject={account.login}
            icon={<Trash2 size={16} aria-hidden />}
            isDisabled={account.login === own}
            onPress={() => setOpen({ kind: "delete", account })}
          />
        </span>
      ),
    },
  ];
}

function limitOf(limits: AccountLimit[], account: Account): AccountLimit | undefined {
  return limits.find((limit) => limit.account === accountName(account));
}

function documentsText(limit: AccountLimit | undefined, names: Names): string {
  return limit === undefined ? "all" : accessText(limit.pipelines, names.pipeline);
}

function roleLabel(role: string): string {
  return ROLES.find((row) => row.id === role)?.label ?? role;
}
