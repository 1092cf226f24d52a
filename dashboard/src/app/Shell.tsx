/** Frame of all pages: navigation, theme and account. */
import { LogOut, Menu as MenuIcon, MonitorCog, Moon, PanelLeft, Sun, UserRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover, Separator } from "react-aria-components";
import { NavLink, useLocation } from "react-router";
import { PAGES, type PageRow } from "./pages";
import { useSession, useSignOut } from "./session";
import "./shell.css";
import { applyTheme, storedTheme, type Theme } from "./theme";

const GROUPS: PageRow["group"][] = ["Plant", "Documents", "Operation"];

export function Shell({ children }: { children: ReactNode }) {
  const [isNarrow, setNarrow] = useState(() => localStorage.getItem("pidq.sidebar") === "narrow");
  const [isMenuOpen, setMenuOpen] = useState(false);
  const location = useLocation();
  const toggle = () => {
    localStorage.setItem("pidq.sidebar", isNarrow ? "wide" : "narrow");
    setNarrow(!isNarrow);
  };
  return (
    <div className="shell" data-narrow={isNarrow || undefined} data-menu={isMenuOpen || undefined}>
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <header className="phone-bar">
        <Brand />
        <Account />
      </header>
      <nav className="sidebar" aria-label="Pages" key={location.pathname.split("/")[1]}>
        <div className="sidebar-head">
          <Brand />
          <Button
            className="icon-button"
            aria-label={isNarrow ? "Widen the navigation" : "Narrow the navigation"}
            onPress={toggle}
          >
            <PanelLeft size={17} />
          </Button>
        </div>
        {GROUPS.map((group) => (
          <section key={group} aria-label={group}>
            <h2 className="sidebar-group">{group}</h2>
            <ul>
              {PAGES.filter((page) => page.group === group).map((page) => (
                <li key={page.path} data-primary={page.isPrimary || undefined}>
                  <PageLink page={page} onClick={() => setMenuOpen(false)} />
                </li>
              ))}
            </ul>
          </section>
        ))}
        <div className="sidebar-foot">
          <Account />
        </div>
      </nav>
      <main id="content" className="content" tabIndex={-1}>
        {children}
      </main>
      <nav className="phone-nav" aria-label="Main pages">
        {PAGES.filter((page) => page.isPrimary).map((page) => (
          <PageLink key={page.path} page={page} onClick={() => setMenuOpen(false)} />
        ))}
        <button
          type="button"
          className="page-link"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <MenuIcon size={18} aria-hidden />
          <span>More</span>
        </button>
      </nav>
    </div>
  );
}

function Brand() {
  return (
    <span className="brand">
      <img src="/icon.svg" alt="" width="22" height="22" />
      <span className="brand-name">pidq</span>
    </span>
  );
}

function PageLink({ page, onClick }: { page: PageRow; onClick: () => void }) {
  return (
    <NavLink to={page.path} className="page-link" title={page.label} onClick={onClick}>
      <page.icon size={18} aria-hidden />
      <span>{page.label}</span>
    </NavLink>
  );
}

const THEMES: { theme: Theme; label: string; icon: typeof Sun }[] = [
  { theme: "system", label: "Theme of the system", icon: MonitorCog },
  { theme: "light", label: "Light", icon: Sun },
  { theme: "dark", label: "Dark", icon: Moon },
];

function Account() {
  const session = useSession();
  const signOut = useSignOut();
  const [theme, setTheme] = useState(storedTheme);
  const signedIn = session.data?.signed_in ? session.data : null;
  const choose = (key: string | number) => {
    const row = THEMES.find((row) => row.theme === key);
    if (row) {
      applyTheme(row.theme);
      setTheme(row.theme);
    } else {
      signOut.mutate();
    }
  };
  return (
    <MenuTrigger>
      <Button className="account" aria-label="Account and theme">
        <UserRound size={18} aria-hidden />
        <span>{signedIn?.login ?? "Local access"}</span>
      </Button>
      <Popover className="popover" placement="top start">
        <Menu className="menu" onAction={choose} selectedKeys={[theme]}>
          {THEMES.map((row) => (
            <MenuItem key={row.theme} id={row.theme} textValue={row.label} className="menu-item">
              <row.icon size={16} aria-hidden /> {row.label}{" "}
              {row.theme === theme && <span aria-hidden>✓</span>}
            </MenuItem>
          ))}
          {signedIn?.auth === "tokens" && <Separator className="menu-separator" />}
          {signedIn?.auth === "tokens" && (
            <MenuItem id="sign-out" textValue="Sign out" className="menu-item">
              <LogOut size={16} aria-hidden /> Sign out
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
