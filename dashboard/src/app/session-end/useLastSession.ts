/** The session of the person at work, also after it has ended, so that the page they work on stays. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { setSignedOutHandler } from "../../api/client";
import { type Session, type SignedIn, sessionQuery } from "../session";
import { isWithoutSession, pauseRequests, resumeRequests } from "./pause";
import { listenToTabs, tellTabs } from "./tabs";

/** Returns the last session with a person, or null before the first one. */
export function useLastSession(session: Session | undefined): SignedIn | null {
  const [last, setLast] = useState<SignedIn | null>(null);
  if (session?.signed_in && session !== last) setLast(session);
  const hasEnded = last !== null && session?.signed_in === false;
  useSessionNews();
  usePause(hasEnded);
  useOtherPerson(last?.login);
  return last;
}

/** Reads the session again when a request is rejected, here or in another tab. */
function useSessionNews(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const readAgain = () => queries.refetchQueries({ queryKey: sessionQuery.queryKey, exact: true });
    const stopHandling = setSignedOutHandler(() => {
      if (!queries.getQueryData(sessionQuery.queryKey)?.signed_in) return;
      pauseRequests();
      readAgain().then(() => {
        if (queries.getQueryData(sessionQuery.queryKey)?.signed_in) resumeRequests();
      });
    });
    const stopListening = listenToTabs((news) => {
      // Whoever signs out leaves nothing on the screen.
      if (news === "signed-out") window.location.reload();
      else readAgain();
    });
    return () => {
      stopHandling();
      stopListening();
    };
  }, [queries]);
}

/** Holds the requests back while the session has ended, and repeats those that failed for it. */
function usePause(hasEnded: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!hasEnded) return;
    pauseRequests();
    tellTabs("ended");
    return () => {
      resumeRequests();
      tellTabs("signed-in");
      queries.refetchQueries({ predicate: (query) => isWithoutSession(query.state.error) });
    };
  }, [hasEnded, queries]);
}

/** Starts over when another person signs in: the page belongs to the one before. */
function useOtherPerson(login: string | null | undefined): void {
  const first = useRef(login);
  useEffect(() => {
    if (login === undefined) return;
    if (first.current === undefined) tellTabs("signed-in");
    else if (first.current !== login) window.location.reload();
    first.current = login;
  }, [login]);
}
