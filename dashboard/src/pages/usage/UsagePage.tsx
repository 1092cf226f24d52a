/** The page "Usage". */
import { Page } from "../../ui/Page";

export default function UsagePage() {
  return <Page title="Usage">{null}</Page>;
}
