/** Changes through the API. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

/** A change after which the queries below a key are read again, whether it succeeded or not. */
export function useChange<Input, Output>(
  queryKey: readonly string[],
  mutationFn: (input: Input) => Promise<Output>,
) {
  const queries = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => queries.invalidateQueries({ queryKey }) });
}
