/** The page "Webhooks". */
import { Page } from "../../ui/Page";

export default function WebhooksPage() {
  return <Page title="Webhooks">{null}</Page>;
}
