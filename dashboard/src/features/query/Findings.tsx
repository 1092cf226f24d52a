/** Findings of the service about the query, with fixes to apply by a click. */
import { CircleAlert, TriangleAlert } from "lucide-react";
import { Button } from "../../ui/Button";
import type { QueryFinding, QueryFix } from "./span";

interface FindingsProps {
  findings: QueryFinding[];
  onFix: (fix: QueryFix) => void;
}

export function Findings({ findings, onFix }: FindingsProps) {
  return (
    <ul className="query-findings" aria-label="Findings in the query" aria-live="polite">
      {findings.map((finding) => (
        <li key={`${finding.code}${finding.span.start}${finding.message}`} data-severity={finding.severity}>
          {finding.severity === "error" ? (
            <CircleAlert size={16} aria-label="Error" />
          ) : (
            <TriangleAlert size={16} aria-label="Warning" />
          )}
          <span className="grow">
            {finding.message}
            {finding.help && <span className="muted"> · {finding.help}</span>}
          </span>
          {finding.fixes.slice(0, 3).map((fix) => (
            <Button key={fix.text} size="small" onPress={() => onFix(fix)}>
              Use {fix.text}
            </Button>
          ))}
        </li>
      ))}
    </ul>
  );
}
