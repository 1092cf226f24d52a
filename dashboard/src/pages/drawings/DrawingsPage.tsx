/** The page "Drawings". */
import { Page } from "../../ui/Page";

export default function DrawingsPage() {
  return <Page title="Drawings">{null}</Page>;
}
