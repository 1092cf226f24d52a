/** The page "Audit". */
import { Page } from "../../ui/Page";

export default function AuditPage() {
  return <Page title="Audit">{null}</Page>;
}
