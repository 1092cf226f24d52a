/** The content of a page that failed: what to do, and a report for support. */
import { useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { versionQuery } from "../../features/operation/queries";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { errorReport } from "../../ui/errorReport";
import "../../ui/ui.css";

/** The messages of browsers if a file of a page is missing: the dashboard was updated since it was opened. */
const MISSING_FILE = /dynamically imported module|importing a module script|preload CSS/i;

export function PageFailure({ error }: { error: unknown }) {
  const version = useQuery(versionQuery).data?.version ?? "of unknown version";
  const isOutdated = error instanceof Error && MISSING_FILE.test(error.message);
  const report = errorReport(error, {
    path: window.location.pathname,
    version,
    browser: navigator.userAgent,
    at: new Date(),
  });
  return (
    <div className="page page-failure">
      <h1>{isOutdated ? "This page could not be loaded" : "This page failed"}</h1>
      <p role="alert">
        {isOutdated
          ? "The dashboard may have been updated since you opened it. Reload it to continue."
          : "The other pages still work. Reload this one; if it fails again, send the report to support."}
      </p>
      <div className="row">
        <Button kind="primary" onPress={() => window.location.reload()}>
          <RotateCw size={16} aria-hidden /> Reload
        </Button>
        <CopyButton text={report} label="Copy the report" size="normal" />
      </div>
      <details>
        <summary>Report</summary>
        <pre className="report">{report}</pre>
      </details>
    </div>
  );
}
