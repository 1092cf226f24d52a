/** The page "Query". */
import { Page } from "../../ui/Page";

export default function QueryPage() {
  return <Page title="Query">{null}</Page>;
}
