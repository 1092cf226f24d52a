/** Result of the test of a model. */
import type { Schemas } from "../../api/client";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";

interface ConnectionTestProps {
  name: string;
  isPending: boolean;
  result: Schemas["ConnectionTest"] | null;
  error: unknown;
}

export function ConnectionTest({ name, isPending, result, error }: ConnectionTestProps) {
  if (isPending) return <Loading label={`Test of ${name}`} />;
  if (error) return <ProblemMessage error={error} />;
  if (!result) return null;
  return (
    <p role="status" className="card">
      <strong>{name}</strong> answered in {result.latency_ms} ms. Models:{" "}
      {result.models.slice(0, 20).join(", ") || "none listed"}
    </p>
  );
}
