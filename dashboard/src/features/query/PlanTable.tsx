/** The plan of a run: what each part of the query cost, and how it was done. */
import { ListTree } from "lucide-react";
import type { Schemas } from "../../api/client";
import { Empty } from "../../ui/Empty";

const number = new Intl.NumberFormat();

export function PlanTable({ explanation }: { explanation: Schemas["QueryExplanation"] | null }) {
  const steps = explanation?.steps ?? [];
  if (steps.length === 0) return <Empty icon={ListTree} title="This query has no calls" />;
  const most = Math.max(...steps.map((step) => step.fuel), 1);
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label="Plan of the run">
      <table className="table">
        <thead>
          <tr>
            {["Part of the query", "Strategy"].map((label) => (
              <th key={label} scope="col">
                <span>{label}</span>
              </th>
            ))}
            {["Runs", "Rows", "Fuel"].map((label) => (
              <th key={label} scope="col" data-align="end">
                <span>{label}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a run have no other identity
            <tr key={index}>
              <td>
                <code style={{ paddingInlineStart: `${step.depth * 20}px` }}>{step.text}</code>
              </td>
              <td>{step.how}</td>
              <td data-align="end">{number.format(step.runs)}</td>
              <td data-align="end">{number.format(step.rows)}</td>
              <td data-align="end">
                {number.format(step.fuel)}
                <span className="query-cost" style={{ width: `${(step.fuel / most) * 100}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
