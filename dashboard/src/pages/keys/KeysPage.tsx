/** The page "Keys". */
import { Page } from "../../ui/Page";

export default function KeysPage() {
  return <Page title="Keys">{null}</Page>;
}
