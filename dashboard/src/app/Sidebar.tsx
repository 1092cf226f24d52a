/** The navigation at the side: the pages by group, search, status and account. */
import { PanelLeft } from "lucide-react";
import { Button } from "react-aria-components";
import { NavLink } from "react-router";
import { Account } from "./Account";
import { CommandsButton } from "./CommandsButton";
import type { PageRow } from "./pages";
import { StatusIndicator } from "./status/StatusIndicator";
import { usePages } from "./usePages";

const GROUPS: PageRow["group"][] = ["Plant", "Documents", "Operation"];

interface SidebarProps {
  isNarrow: boolean;
  onToggle: () => void;
  /** Called when a page is chosen. */
  onLeave: () => void;
}

export function Sidebar({ isNarrow, onToggle, onLeave }: SidebarProps) {
  const pages = usePages();
  return (
    <nav className="sidebar" aria-label="Pages">
      <div className="sidebar-head">
        <Brand />
        <StatusIndicator />
        <Button
          className="icon-button"
          aria-label={isNarrow ? "Widen the navigation" : "Narrow the navigation"}
          onPress={onToggle}
        >
          <PanelLeft size={17} />
        </Button>
      </div>
      <CommandsButton />
      {GROUPS.map((group) => (
        <section key={group} aria-label={group}>
          <h2 className="sidebar-group">{group}</h2>
          <ul>
            {pages
              .filter((page) => page.group === group)
              .map((page) => (
                <li key={page.path} data-primary={page.isPrimary || undefined}>
                  <PageLink page={page} onClick={onLeave} />
                </li>
              ))}
          </ul>
        </section>
      ))}
      <div className="sidebar-foot">
        <Account />
      </div>
    </nav>
  );
}

export function Brand() {
  return (
    <span className="brand">
      <img src="/icon.svg" alt="" width="22" height="22" />
      <span className="brand-name">pidq</span>
    </span>
  );
}

export function PageLink({ page, onClick }: { page: PageRow; onClick: () => void }) {
  return (
    <NavLink to={page.path} className="page-link" title={page.label} onClick={onClick}>
      <page.icon size={18} aria-hidden />
      <span>{page.label}</span>
    </NavLink>
  );
}
