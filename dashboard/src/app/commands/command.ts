/** A command of the palette, and what it is chosen from. */
import type { QueryClient } from "@tanstack/react-query";
import type { Frame } from "../../features/frame/frame";
import type { PageCommand } from "../../features/frame/pageCommands";
import type { PageRow } from "../pages";

export interface Command {
  id: string;
  label: string;
  /** Tells commands of the same name apart. */
  detail?: string;
  keys?: string;
  run: (frame: Frame) => void;
}

export interface CommandContext {
  text: string;
  pathname: string;
  search: string;
  pageCommands: PageCommand[];
  /** The pages that the person can use. */
  pages: PageRow[];
  canSignOut: boolean;
  queries: QueryClient;
  signal: AbortSignal;
}
