/** A problem with a model, with the setting that changes it if there is one. */
import type { ReactNode } from "react";
import { ApiProblem } from "../../api/problem";
import { ProblemMessage } from "../../ui/ProblemMessage";

const HELP: Record<string, ReactNode> = {
  "llm-endpoint-forbidden": (
    <>
      The settings of the service decide which addresses it may call. For a server on this machine, start it
      with <code>PIDQ_LLM_EGRESS=local</code>; for one in the private network, with{" "}
      <code>PIDQ_LLM_EGRESS=private</code>; or list its URL in <code>PIDQ_LLM_ALLOW</code>.
    </>
  ),
  "app-secret-missing": (
    <>
      API keys are stored encrypted. Start the service with a secret of its own, such as{" "}
      <code>PIDQ_APP_SECRET="$(openssl rand -base64 32)"</code>, and keep it: without it, stored keys cannot
      be used.
    </>
  ),
};

export function EgressHelp({ error }: { error: unknown }) {
  const help = error instanceof ApiProblem ? HELP[error.fields.code] : undefined;
  return (
    <div className="stack">
      <ProblemMessage error={error} />
      {help && <p className="egress-help">{help}</p>}
    </div>
  );
}
