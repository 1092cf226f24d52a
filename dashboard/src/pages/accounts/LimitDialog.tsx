/** The documents that a user may see: all, or those of some classifications. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { AccessMatrix } from "../../features/access/AccessMatrix";
import type { AccessRules } from "../../features/access/accessRules";
import {
  type Account,
  type AccountLimit,
  accountName,
  useLimitAccount,
} from "../../features/access/accounts";
import { pipelinesQuery } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Checkbox } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { QueryState } from "../../ui/QueryState";

interface LimitDialogProps {
  account: Account;
  limit: AccountLimit | undefined;
  onClose: () => void;
}

export function LimitDialog({ account, limit, onClose }: LimitDialogProps) {
  const pipelines = useQuery(pipelinesQuery);
  const [isLimited, setLimited] = useState(limit !== undefined);
  const [rules, setRules] = useState<AccessRules>(limit?.pipelines ?? {});
  const change = useLimitAccount();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const input = { account: accountName(account), rules: isLimited ? rules : null };
    change.mutate(input, { onSuccess: onClose });
  };
  return (
    <Dialog title={`Documents of ${account.login}`} isOpen onClose={onClose} size="wide">
      <form className="stack" onSubmit={submit}>
        <p className="muted">
          A limited user sees no other documents: not in lists, searches, answers or events. What the role
          allows remains the most that the user may do.
        </p>
        <p className="muted">
          Drawings are not affected: every user reads all of them, unless the operator has set{" "}
          <code>PIDQ_DEFAULT_ACCESS=none</code> and grants drawings to users or groups with{" "}
          <code>pidq users grant</code>.
        </p>
        <Checkbox label="Only some classifications" isSelected={isLimited} onChange={setLimited} />
        <QueryState query={pipelines} label="Pipelines" />
        {isLimited && pipelines.data && (
          <AccessMatrix pipelines={pipelines.data} rules={rules} onChange={setRules} />
        )}
        {change.isError && <ProblemMessage error={change.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            isDisabled={change.isPending || (isLimited && Object.keys(rules).length === 0)}
          >
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
