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

export interface PageRow {
  /** Path of the page, followed by the paths of what it shows. */
  path: string;
  label: string;
  icon: LucideIcon;
  group: "Plant" | "Documents" | "Operation";
  /** Whether the bar at the bottom of a phone has the page. */
  isPrimary?: boolean;
  component: LazyExoticComponent<ComponentType>;
}

export const PAGES: PageRow[] = [
  {
    path: "/drawings",
    label: "Drawings",
    icon: Workflow,
    group: "Plant",
    isPrimary: true,
    component: lazy(() => import("../pages/drawings/DrawingsPage")),
  },
  {
    path: "/query",
    label: "Query",
    icon: SquareTerminal,
    group: "Plant",
    isPrimary: true,
    component: lazy(() => import("../pages/query/QueryPage")),
  },
  {
    path: "/ask",
    label: "Ask",
    icon: MessageCircleQuestion,
    group: "Documents",
    isPrimary: true,
    component: lazy(() => import("../pages/ask/AskPage")),
  },
  {
    path: "/documents",
    label: "Documents",
    icon: FileText,
    group: "Documents",
    isPrimary: true,
    component: lazy(() => import("../pages/documents/DocumentsPage")),
  },
  {
    path: "/search",
    label: "Search lab",
    icon: FlaskConical,
    group: "Documents",
    component: lazy(() => import("../pages/search/SearchPage")),
  },
  {
    path: "/connections",
    label: "Models",
    icon: Cable,
    group: "Documents",
    component: lazy(() => import("../pages/connections/ConnectionsPage")),
  },
  {
    path: "/overview",
    label: "Overview",
    icon: Activity,
    group: "Operation",
    component: lazy(() => import("../pages/overview/OverviewPage")),
  },
  {
    path: "/keys",
    label: "API keys",
    icon: KeyRound,
    group: "Operation",
    component: lazy(() => import("../pages/keys/KeysPage")),
  },
  {
    path: "/users",
    label: "Accounts",
    icon: Users,
    group: "Operation",
    component: lazy(() => import("../pages/accounts/AccountsPage")),
  },
  {
    path: "/events",
    label: "Events",
    icon: ScrollText,
    group: "Operation",
    component: lazy(() => import("../pages/events/EventsPage")),
  },
  {
    path: "/webhooks",
    label: "Webhooks",
    icon: Webhook,
    group: "Operation",
    component: lazy(() => import("../pages/webhooks/WebhooksPage")),
  },
  {
    path: "/usage",
    label: "Usage",
    icon: Gauge,
    group: "Operation",
    component: lazy(() => import("../pages/usage/UsagePage")),
  },
  {
    path: "/audit",
    label: "Audit",
    icon: ClipboardList,
    group: "Operation",
    component: lazy(() => import("../pages/audit/AuditPage")),
  },
  {
    path: "/reference",
    label: "API",
    icon: Braces,
    group: "Operation",
    component: lazy(() => import("../pages/api/ApiPage")),
  },
  {
    path: "/license",
    label: "License",
    icon: ShieldCheck,
    group: "Operation",
    component: lazy(() => import("../pages/license/LicensePage")),
  },
];

export const START_PATH = "/drawings";
