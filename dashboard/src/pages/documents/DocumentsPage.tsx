/** The page "Documents". */
import { Page } from "../../ui/Page";

export default function DocumentsPage() {
  return <Page title="Documents">{null}</Page>;
}
