/** The licenses of the packages in the dashboard, which the build writes. */
import { queryOptions } from "@tanstack/react-query";
import type { PackageLicense } from "../../../licenses";
import { checked } from "../../api/client";

export type { PackageLicense };

export const licensesQuery = queryOptions({
  queryKey: ["package-licenses"],
  queryFn: async (): Promise<PackageLicense[]> => (await checked(await fetch("/licenses.json"))).json(),
  staleTime: Number.POSITIVE_INFINITY,
});
