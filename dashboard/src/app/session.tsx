/** The session of the person who uses the dashboard. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { checked } from "../api/client";
import { problemOf } from "../api/problem";

export interface SignInMethods {
  password: boolean;
  sso: { name: string } | null;
}

export type Session =
  | { signed_in: false; methods: SignInMethods }
  | {
      signed_in: true;
      login: string | null;
      scopes: string[];
      auth: "tokens" | "off";
      methods: SignInMethods;
    };

async function request(init: RequestInit): Promise<Response> {
  return checked(await fetch("/session", init));
}

const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async (): Promise<Session> => (await request({})).json(),
  staleTime: 60_000,
});

export function useSession() {
  return useQuery(sessionQuery);
}

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (credentials: { login: string; password: string }): Promise<Session> => {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch("/session", {
        method: "POST",
        headers,
        body: JSON.stringify(credentials),
      });
      if (!response.ok) throw await problemOf(response);
      return response.json();
    },
    onSuccess: (session) => queries.setQueryData(sessionQuery.queryKey, session),
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => request({ method: "DELETE" }),
    onSuccess: () => {
      queries.clear();
      window.location.assign("/");
    },
  });
}
