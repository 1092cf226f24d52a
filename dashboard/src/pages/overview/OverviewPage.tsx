/** The page "Overview". */
import { Page } from "../../ui/Page";

export default function OverviewPage() {
  return <Page title="Overview">{null}</Page>;
}
