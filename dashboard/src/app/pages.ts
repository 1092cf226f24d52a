/** The pages of the dashboard, one row per page. */
import {
  Activity,
  Braces,
  Cable,
  ClipboardList,
  FileText,
  FlaskConical,
  Gauge,
  KeyRound,
  type LucideIcon,
  MessageCircleQuestion,
  ScrollText,
  ShieldCheck,
  SquareTerminal,
  Users,
  Webhook,
  Workflow,
} from "lucide-react";
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { matchPath } from "react-router";
import { shortcutRows } from "../features/drawing/shortcuts";
import type { ShortcutRow } from "../features/frame/shortcutRow";

export interface PageRow {
  /** Path of the page, followed by the paths of what it shows. */
  path: string;
  label: string;
  icon: LucideIcon;
  group: "Plant" | "Documents" | "Operation";
  /** The key that goes to the page, after `g`. */
  key: string;
  /** Patterns of the paths below, each of which shows a part of the page. */
  parts?: string[];
  /** Shortcuts that the page has in addition to those of all pages. */
  shortcuts?: ShortcutRow[];
  /** Set if the bar at the bottom of a phone has the page. */
  isPrimary?: boolean;
  /** Set if the API serves what the page shows to administrators only. */
  isForAdministrators?: boolean;
  component: LazyExoticComponent<ComponentType>;
}

export const PAGES: PageRow[] = [
  {
    path: "/drawings",
    label: "Drawings",
    key: "d",
    icon: Workflow,
    group: "Plant",
    parts: [":graphId"],
    isPrimary: true,
    shortcuts: shortcutRows,
    component: lazy(() => import("../pages/drawings/DrawingsPage")),
  },
  {
    path: "/query",
    label: "Query",
    key: "q",
    icon: SquareTerminal,
    group: "Plant",
    isPrimary: true,
    component: lazy(() => import("../pages/query/QueryPage")),
  },
  {
    path: "/ask",
    label: "Ask",
    key: "a",
    icon: MessageCircleQuestion,
    group: "Documents",
    parts: [":pipelineId"],
    isPrimary: true,
    component: lazy(() => import("../pages/ask/AskPage")),
  },
  {
    path: "/documents",
    label: "Documents",
    key: "t",
    icon: FileText,
    group: "Documents",
    parts: [":pipelineId", ":pipelineId/:documentId"],
    isPrimary: true,
    component: lazy(() => import("../pages/documents/DocumentsPage")),
  },
  {
    path: "/search",
    label: "Search lab",
    key: "s",
    icon: FlaskConical,
    group: "Documents",
    component: lazy(() => import("../pages/search/SearchPage")),
  },
  {
    path: "/connections",
    label: "Models",
    key: "m",
    icon: Cable,
    group: "Documents",
    isForAdministrators: true,
    component: lazy(() => import("../pages/connections/ConnectionsPage")),
  },
  {
    path: "/overview",
    label: "Overview",
    key: "o",
    icon: Activity,
    group: "Operation",
    component: lazy(() => import("../pages/overview/OverviewPage")),
  },
  {
    path: "/keys",
    label: "API keys",
    key: "k",
    icon: KeyRound,
    group: "Operation",
    isForAdministrators: true,
    component: lazy(() => import("../pages/keys/KeysPage")),
  },
  {
    path: "/users",
    label: "Accounts",
    key: "u",
    icon: Users,
    group: "Operation",
    parts: ["clients"],
    isForAdministrators: true,
    component: lazy(() => import("../pages/accounts/AccountsPage")),
  },
  {
    path: "/events",
    label: "Events",
    key: "e",
    icon: ScrollText,
    group: "Operation",
    component: lazy(() => import("../pages/events/EventsPage")),
  },
  {
    path: "/webhooks",
    label: "Webhooks",
    key: "w",
    icon: Webhook,
    group: "Operation",
    parts: [":webhookId"],
    isForAdministrators: true,
    component: lazy(() => import("../pages/webhooks/WebhooksPage")),
  },
  {
    path: "/usage",
    label: "Usage",
    key: "n",
    icon: Gauge,
    group: "Operation",
    component: lazy(() => import("../pages/usage/UsagePage")),
  },
  {
    path: "/audit",
    label: "Audit",
    key: "i",
    icon: ClipboardList,
    group: "Operation",
    isForAdministrators: true,
    component: lazy(() => import("../pages/audit/AuditPage")),
  },
  {
    path: "/reference",
    label: "API",
    key: "r",
    icon: Braces,
    group: "Operation",
    component: lazy(() => import("../pages/api/ApiPage")),
  },
  {
    path: "/license",
    label: "License",
    key: "l",
    icon: ShieldCheck,
    group: "Operation",
    component: lazy(() => import("../pages/license/LicensePage")),
  },
];

export const START_PATH = "/drawings";

/** The page that an address belongs to. */
export function pageOf(pathname: string): PageRow | undefined {
  return PAGES.find(({ path }) => pathname === path || pathname.startsWith(`${path}/`));
}

/** Returns whether the page shows something at an address below its path. */
export function hasAddress({ path, parts = [] }: Pick<PageRow, "path" | "parts">, pathname: string): boolean {
  return [path, ...parts.map((part) => `${path}/${part}`)].some((pattern) => matchPath(pattern, pathname));
}
