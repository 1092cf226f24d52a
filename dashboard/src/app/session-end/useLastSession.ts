/** The session of the person at work, also after it has ended, so that the page they work on stays. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { setSignedOutHandler } from "../../api/client";
import { type Session, type SignedIn, sessionQuery } from "../../features/session/session";
import { listenToTabs, tellTabs } from "../../features/session/tabs";
import { isWithoutSession, pauseRequests, resumeRequests } from "./pause";

/** Returns the last session of the person at work, or null before the first one. */
export function useLastSession(session: Session | undefined): SignedIn | null {
  const [last, setLast] = useState<SignedIn | null>(null);
  const isOther = last !== null && session?.signed_in === true && session.login !== last.login;
  if (session?.signed_in && session !== last && !isOther) setLast(session);
  useSessionNews();
  usePause(isOther || (last !== null && session?.signed_in === false));
  useStart(last !== null, isOther);
  return last;
}

/** Reads the session again when a request is rejected, here or in another tab. */
function useSessionNews(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const readAgain = () => queries.refetchQueries({ queryKey: sessionQuery.queryKey, exact: true });
    const person = () => {
      const session = queries.getQueryData(sessionQuery.queryKey);
      return session?.signed_in ? session.login : undefined;
    };
    const stopHandling = setSignedOutHandler(() => {
      const login = person();
      if (login === undefined) return;
      pauseRequests();
      readAgain().then(() => {
        if (person() === login) resumeRequests();
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

/** Holds the requests back, and afterwards repeats those that failed. */
function usePause(isHeld: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isHeld) return;
    pauseRequests();
    tellTabs("ended");
    return () => {
      resumeRequests();
      tellTabs("signed-in");
      queries.refetchQueries({ predicate: (query) => isWithoutSession(query.state.error) });
    };
  }, [isHeld, queries]);
}

/**
 * Tells the other tabs who signed in, and starts over when it is another person: the page and the requests that are
 * held back belong to the one before.
 */
function useStart(isSignedIn: boolean, isOther: boolean): void {
  useEffect(() => {
    if (isSignedIn) tellTabs("signed-in");
  }, [isSignedIn]);
  useEffect(() => {
    if (isOther) window.location.reload();
  }, [isOther]);
}
