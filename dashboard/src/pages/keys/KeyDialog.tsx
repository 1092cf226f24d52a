/** Form of a new API key: name, scopes, expiry, and the classifications that it may use. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { AccessMatrix } from "../../features/access/AccessMatrix";
import type { AccessRules } from "../../features/access/accessRules";
import { pipelinesQuery } from "../../features/documents/queries";
import { keysQuery } from "../../features/operation/queries";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Checkbox, TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";
import type { ShownSecret } from "../../ui/SecretDialog";

type Scope = Schemas["ApiKey"]["scopes"][number];

const SCOPES: { scope: Scope; text: string }[] = [
  { scope: "query", text: "search and ask" },
  { scope: "documents:read", text: "read documents" },
  { scope: "documents:write", text: "upload and change documents" },
  { scope: "pipelines:read", text: "read pipelines" },
  { scope: "pipelines:write", text: "create and change pipelines" },
  { scope: "admin", text: "manage keys, connections and webhooks" },
];

interface KeyDialogProps {
  onClose: () => void;
  onSecret: (shown: ShownSecret) => void;
}

export function KeyDialog({ onClose, onSecret }: KeyDialogProps) {
  const queries = useQueryClient();
  const pipelines = useQuery(pipelinesQuery);
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>(["query"]);
  const [days, setDays] = useState("90");
  const [isLimited, setLimited] = useState(false);
  const [access, setAccess] = useState<AccessRules>({});
  const create = useMutation({
    mutationFn: (body: Schemas["KeyRequest"]) => data(api.POST("/api/keys", { body })),
    onSuccess: (key) => {
      onClose();
      onSecret({ title: "New API key", name: key.name, secret: key.key ?? "" });
      return queries.invalidateQueries({ queryKey: keysQuery.queryKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const expires_at = days.trim() === "" ? null : expiry(Number(days));
    create.mutate({ name, scopes, expires_at, pipelines: isLimited ? access : {} });
  };
  const toggle = (scope: Scope) => (isSelected: boolean) =>
    setScopes(isSelected ? [...scopes, scope] : scopes.filter((other) => other !== scope));
  const isEmpty = isLimited && Object.keys(access).length === 0;
  return (
    <Dialog title="Create an API key" isOpen onClose={onClose} size="wide">
      <form className="stack" onSubmit={submit}>
        <TextField label="Name" value={name} onChange={setName} isRequired autoFocus />
        <TextField
          label="Days until it expires"
          description="Empty: it never expires."
          inputMode="numeric"
          value={days}
          onChange={setDays}
          validate={(text) => (/^\d*$/.test(text.trim()) ? null : "Enter a number of days.")}
        />
        <fieldset className="stack fieldset">
          <legend>Scopes</legend>
          {SCOPES.map((row) => (
            <Checkbox
              key={row.scope}
              label={`${row.scope}: ${row.text}`}
              isSelected={scopes.includes(row.scope)}
              onChange={toggle(row.scope)}
            />
          ))}
        </fieldset>
        <fieldset className="stack fieldset">
          <legend>Documents</legend>
          <Checkbox label="Only some classifications" isSelected={isLimited} onChange={setLimited} />
          {isLimited && <AccessMatrix pipelines={pipelines.data ?? []} rules={access} onChange={setAccess} />}
        </fieldset>
        {create.isError && <ProblemMessage error={create.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            isDisabled={create.isPending || scopes.length === 0 || isEmpty}
          >
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function expiry(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}
