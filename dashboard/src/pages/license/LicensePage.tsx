/** The page "License". */
import { Page } from "../../ui/Page";

export default function LicensePage() {
  return <Page title="License">{null}</Page>;
}
