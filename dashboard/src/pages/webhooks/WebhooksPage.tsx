/** The page "Webhooks": where events are sent; a webhook with its deliveries has a path of its own. */
import { Route, Routes } from "react-router";
import { WebhookList } from "./WebhookList";
import { WebhookView } from "./WebhookView";

export default function WebhooksPage() {
  return (
    <Routes>
      <Route index element={<WebhookList />} />
      <Route path=":webhookId" element={<WebhookView />} />
    </Routes>
  );
}
