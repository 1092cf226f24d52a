/** The session of the person who uses the dashboard. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { checked } from "../../api/client";
import { ApiProblem, problemOf } from "../../api/problem";
import { tellTabs } from "./tabs";
import { secondsOfRetryAfter } from "./waiting";

export interface SignInMethods {
  password: boolean;
  sso: { name: string } | null;
}

export interface SignedIn {
  signed_in: true;
  login: string | null;
  scopes: string[];
  auth: "tokens" | "off";
  methods: SignInMethods;
}

export type Session = { signed_in: false; methods: SignInMethods } | SignedIn;

async function request(init: RequestInit): Promise<Response> {
  return checked(await fetch("/session", init));
}

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async (): Promise<Session> => (await request({})).json(),
  staleTime: 60_000,
  // All other requests pause while the session has ended.
  networkMode: "always",
});

export function useSession() {
  return useQuery(sessionQuery);
}

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    networkMode: "always",
    mutationFn: async (credentials: { login: string; password: string }): Promise<Session> => {
      const headers = { "Content-Type": "application/json" };
      const body = JSON.stringify(credentials);
      const response = await fetch("/session", { method: "POST", headers, body });
      if (!response.ok) throw await signInProblemOf(response);
      return response.json();
    },
    onSuccess: (session) => queries.setQueryData(sessionQuery.queryKey, session),
  });
}

/** The problem of a rejected sign-in, with the time to wait if there were too many. */
async function signInProblemOf(response: Response): Promise<ApiProblem> {
  const { fields } = await problemOf(response);
  const retry_after = secondsOfRetryAfter(response.headers.get("Retry-After"), Date.now());
  return new ApiProblem({ ...fields, ...(retry_after === null ? {} : { retry_after }) });
}

/** Address of the sign-in at the identity provider, which comes back to a path, and may ask for another account. */
export function ssoAddress(path: string, asksForAccount = false): string {
  return `/session/sso?return_to=${encodeURIComponent(path)}${asksForAccount ? "&prompt=login" : ""}`;
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    networkMode: "always",
    mutationFn: async (): Promise<string> => {
      const response = await request({ method: "DELETE" });
      // The session at the identity provider ends as well.
      return response.status === 204 ? "/" : (await response.json()).end_session_url;
    },
    onSuccess: (url) => {
      queries.clear();
      tellTabs("signed-out");
      window.location.assign(url);
    },
  });
}
