/** The commands that match what is typed, by kind. */
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "react-router";
import { useFrame } from "../../features/frame/frame";
import { usePageCommands } from "../../features/frame/pageCommands";
import { useDebounced } from "../../features/query/useDebounced";
import { usePages } from "../usePages";
import type { Command } from "./command";
import { COMMAND_KINDS, type CommandKind, type Found } from "./kinds";
import { bestMatches } from "./match";

export interface CommandGroup {
  kind: CommandKind;
  commands: Command[];
}

interface FoundCommands {
  groups: CommandGroup[];
  isSearching: boolean;
  /** The kinds that could not be searched. */
  failed: CommandKind[];
  /** Notes on what the commands lack. */
  notes: string[];
}

type FoundOfKind = Exclude<Found, Command[]>;

/** Time without typing after which the service is asked, in milliseconds. */
const REST = 180;

/** Time without typing for which a kind waits for those before it, in milliseconds. */
const ORDER_TIMEOUT = 1_000;

export function useCommands(text: string): FoundCommands {
  const { pathname, search } = useLocation();
  const { signOut } = useFrame();
  const pageCommands = usePageCommands();
  const pages = usePages();
  const queries = useQueryClient();
  const rested = useDebounced(text.trim(), REST);
  const isRecent = useDebounced(text, ORDER_TIMEOUT) !== text;
  const isSearched = ({ minLength }: CommandKind) => rested.length >= minLength;
  const results = useQueries({
    queries: COMMAND_KINDS.map((kind) => ({
      queryKey: ["commands", kind.id, rested, pathname, search, pageCommands, pages.length],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const found = await kind.find({
          text: rested,
          pathname,
          search,
          pageCommands,
          pages,
          canSignOut: signOut !== null,
          queries,
          signal,
        });
        return Array.isArray(found) ? { commands: found, note: null } : found;
      },
      enabled: isSearched(kind),
      placeholderData: (previous: FoundOfKind | undefined) => previous,
      structuralSharing: false,
      staleTime: 0,
      gcTime: 0,
      retry: false,
    })),
  });
  const groups = COMMAND_KINDS.map((kind, index) => {
    const found = text.trim().length >= kind.minLength ? (results[index]?.data?.commands ?? []) : [];
    return {
      kind,
      commands: bestMatches(found, text, (command) => `${command.label} ${command.detail ?? ""}`, kind.limit),
    };
  });
  // The first result is the one that Enter runs: a kind that is found early does not take the place of one before it.
  const missing = groups.findIndex(
    ({ commands }, index) => commands.length === 0 && results[index]?.isFetching,
  );
  const ordered = isRecent && missing !== -1 ? groups.slice(0, missing) : groups;
  return {
    groups: ordered.filter(({ commands }) => commands.length > 0),
    isSearching: rested !== text.trim() || results.some((result) => result.isFetching),
    failed: COMMAND_KINDS.filter((_, index) => results[index]?.isError),
    notes: results.flatMap((result) => result.data?.note ?? []),
  };
}
