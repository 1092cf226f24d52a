/** The page "Ask". */
import { Page } from "../../ui/Page";

export default function AskPage() {
  return <Page title="Ask">{null}</Page>;
}
