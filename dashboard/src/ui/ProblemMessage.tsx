/** A problem of the API: what happened, where, and what to do next. */
import { CircleAlert } from "lucide-react";
import { ApiProblem } from "../api/problem";
import { Button } from "./Button";

export function ProblemMessage({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof ApiProblem ? error.fields : null;
  const title = problem?.title ?? "This part of the page failed";
  const detail = problem?.detail ?? (error instanceof Error && !problem ? error.message : undefined);
  return (
    <div className="problem" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <strong>{title}</strong>
        {detail && detail !== title && <p>{detail}</p>}
        {problem?.errors?.map((item) => (
          <p key={`${item.pointer}${item.detail}`}>
            {item.pointer && <code>{item.pointer}</code>} {item.detail}
          </p>
        ))}
        {problem?.allowed && <p>Allowed: {problem.allowed.join(", ")}</p>}
        {problem?.request_id && <p className="muted">Request {problem.request_id}</p>}
        {onRetry && (
          <Button size="small" onPress={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}
