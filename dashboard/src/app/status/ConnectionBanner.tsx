/** The banner over all pages while the service cannot be reached. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CloudOff } from "lucide-react";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { healthQuery } from "../../features/operation/health";
import { Button } from "../../ui/Button";

export function ConnectionBanner() {
  const health = useQuery(healthQuery);
  const isOnline = useIsOnline();
  useReadAgain(health.data?.state === "unreachable");
  if (health.data?.state !== "unreachable") return null;
  return (
    <div className="connection-banner" role="alert">
      <CloudOff size={16} aria-hidden />
      <span className="grow">
        {isOnline ? "The service cannot be reached." : "You are offline."} What you see may be out of date; it
        is read again when the connection is back.
      </span>
      <Button size="small" isDisabled={health.isFetching} onPress={() => health.refetch()}>
        Try now
      </Button>
    </div>
  );
}

/** Checks the service when the network changes, and reads everything again when the service is back. */
function useReadAgain(isUnreachable: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    const check = () => queries.invalidateQueries({ queryKey: healthQuery.queryKey });
    return onNetworkChange(check);
  }, [queries]);
  const wasUnreachable = useRef(false);
  useEffect(() => {
    const isBack = wasUnreachable.current && !isUnreachable;
    wasUnreachable.current = isUnreachable;
    if (isBack)
      queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== healthQuery.queryKey[0] });
  }, [isUnreachable, queries]);
}

function useIsOnline(): boolean {
  return useSyncExternalStore(onNetworkChange, () => navigator.onLine);
}

function onNetworkChange(listener: () => void): () => void {
  window.addEventListener("online", listener);
  window.addEventListener("offline", listener);
  return () => {
    window.removeEventListener("online", listener);
    window.removeEventListener("offline", listener);
  };
}
