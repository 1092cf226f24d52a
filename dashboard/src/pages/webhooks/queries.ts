/** Webhooks: what the pages read, and what they change. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { allRows } from "../../api/allRows";
import { api, data, type Schemas } from "../../api/client";
import { useChange } from "../../api/useChange";

export type Webhook = Schemas["Webhook"];
export type Delivery = Schemas["Delivery"];
export type DeliveryState = Schemas["DeliveryState"];

const KEY = ["webhooks"];

export const webhooksQuery = queryOptions({
  queryKey: [...KEY, "list"],
  queryFn: () => allRows<Webhook>((query) => data(api.GET("/api/webhooks", { params: { query } }))),
  refetchInterval: 15_000,
});

export const webhookQuery = (webhook_id: string) =>
  queryOptions({
    queryKey: [...KEY, webhook_id],
    queryFn: () => data(api.GET("/api/webhooks/{webhook_id}", { params: { path: { webhook_id } } })),
    refetchInterval: 10_000,
  });

/** The deliveries of a webhook, newest first, by pages. */
export const deliveriesQuery = (webhook_id: string, state: DeliveryState | null) =>
  infiniteQueryOptions({
    queryKey: [...KEY, webhook_id, "deliveries", state],
    queryFn: ({ pageParam }) =>
      data(
        api.GET("/api/webhooks/{webhook_id}/deliveries", {
          params: {
            path: { webhook_id },
            query: { limit: 50, ...(state ? { state } : {}), ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: 10_000,
  });

export function useCreateWebhook() {
  return useChange(KEY, (body: Schemas["WebhookRequest"]) => data(api.POST("/api/webhooks", { body })));
}

export function usePatchWebhook(webhook_id: string) {
  return useChange(KEY, (body: Schemas["WebhookPatch"]) =>
    data(api.PATCH("/api/webhooks/{webhook_id}", { params: { path: { webhook_id } }, body })),
  );
}

export function useTestWebhook(webhook_id: string) {
  return useChange(KEY, () =>
    data(api.POST("/api/webhooks/{webhook_id}/test", { params: { path: { webhook_id } } })),
  );
}

export function useRotateSecret(webhook_id: string) {
  return useChange(KEY, () =>
    data(api.POST("/api/webhooks/{webhook_id}/rotate", { params: { path: { webhook_id } } })),
  );
}

export function useDeleteWebhook(webhook_id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => api.DELETE("/api/webhooks/{webhook_id}", { params: { path: { webhook_id } } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: webhooksQuery.queryKey }),
  });
}
