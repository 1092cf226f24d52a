/** The page "Connections". */
import { Page } from "../../ui/Page";

export default function ConnectionsPage() {
  return <Page title="Connections">{null}</Page>;
}
