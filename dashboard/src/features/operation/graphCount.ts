/** The number of stored drawings. */
import { queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";

export const graphCountQuery = queryOptions({
  queryKey: ["graph-count"],
  queryFn: async () => {
    let count = 0;
    let cursor: string | null = null;
    do {
      const query: { limit: number; cursor?: string } = cursor ? { limit: 1000, cursor } : { limit: 1000 };
      const page: Schemas["GraphPage"] = await data(api.GET("/graph", { params: { query } }));
      count += page.graphs.length;
      cursor = page.next;
    } while (cursor);
    return count;
  },
});
