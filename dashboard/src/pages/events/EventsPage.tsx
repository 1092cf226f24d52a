/** The page "Events". */
import { Page } from "../../ui/Page";

export default function EventsPage() {
  return <Page title="Events">{null}</Page>;
}
