/** Frame of all pages: navigation, search, status, account, and the dialogs that belong to no page. */
import { Menu as MenuIcon } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { type Frame, FrameContext, type FrameDialog } from "../features/frame/frame";
import { useSession, useSignOut } from "../features/session/session";
import { Account } from "./Account";
import { AboutDialog } from "./about/AboutDialog";
import { CommandsButton } from "./CommandsButton";
import { CommandPalette } from "./commands/CommandPalette";
import { usePageChange } from "./navigation/usePageChange";
import { OwnPasswordDialog } from "./own-account/OwnPasswordDialog";
import { Brand, PageLink, Sidebar } from "./Sidebar";
import { ShortcutHelp } from "./shortcuts/ShortcutHelp";
import { useShortcuts } from "./shortcuts/useShortcuts";
import { ConnectionBanner } from "./status/ConnectionBanner";
import { StatusAnnouncement, StatusIndicator } from "./status/StatusIndicator";
import { VersionBanner } from "./status/VersionBanner";
import { usePages } from "./usePages";
import "../ui/ui.css";
import "./shell.css";

const SEARCH_FIELDS = "[role=combobox]:is(input), [type=search], [role=searchbox]";

export function Shell({ children }: { children: ReactNode }) {
  const contentRef = useRef<HTMLElement>(null);
  const pages = usePages();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isNarrow, toggleSidebar] = useNarrowSidebar();
  const [dialog, open] = useState<FrameDialog | null>(null);
  const focusSearch = () => {
    const field = contentRef.current?.querySelector<HTMLElement>(SEARCH_FIELDS);
    field?.focus();
    return field !== null && field !== undefined;
  };
  const frame = {
    dialog,
    open,
    navigate: useNavigate(),
    toggleSidebar,
    focusSearch,
    signOut: useSignOutAction(),
  };
  useShortcuts(frame);
  usePageChange(contentRef);
  const leave = () => setMenuOpen(false);
  return (
    <FrameContext value={frame}>
      <div className="shell" data-narrow={isNarrow || undefined} data-menu={isMenuOpen || undefined}>
        <a className="skip-link" href="#content">
          Skip to the content
        </a>
        <header className="phone-bar">
          <Brand />
          <StatusIndicator />
          <CommandsButton />
          <Account />
        </header>
        <Sidebar isNarrow={isNarrow} onToggle={toggleSidebar} onLeave={leave} />
        <main id="content" className="content" tabIndex={-1} ref={contentRef}>
          <ConnectionBanner />
          <VersionBanner />
          {children}
        </main>
        <nav className="phone-nav" aria-label="Main pages">
          {pages
            .filter((page) => page.isPrimary)
            .map((page) => (
              <PageLink key={page.path} page={page} onClick={leave} />
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
        <StatusAnnouncement />
      </div>
      <FrameDialogs frame={frame} />
    </FrameContext>
  );
}

function FrameDialogs({ frame: { dialog, open } }: { frame: Frame }) {
  const close = () => open(null);
  return (
    <>
      <CommandPalette />
      <ShortcutHelp isOpen={dialog === "shortcuts"} onClose={close} />
      <OwnPasswordDialog isOpen={dialog === "password"} onClose={close} />
      <AboutDialog isOpen={dialog === "about"} onClose={close} />
    </>
  );
}

/** Windows in which a wide navigation takes too much of the page; on a phone, it is at the bottom. */
const TABLET = "(min-width: 721px) and (max-width: 1100px)";

function useNarrowSidebar(): [isNarrow: boolean, toggle: () => void] {
  const [isNarrow, setNarrow] = useState(() => {
    const chosen = localStorage.getItem("pidq.sidebar");
    return chosen === null ? matchMedia(TABLET).matches : chosen === "narrow";
  });
  const toggle = () => {
    localStorage.setItem("pidq.sidebar", isNarrow ? "wide" : "narrow");
    setNarrow(!isNarrow);
  };
  return [isNarrow, toggle];
}

/** Signs out; null if there is no account to sign out of. */
function useSignOutAction(): (() => void) | null {
  const session = useSession().data;
  const { mutate } = useSignOut();
  return session?.signed_in && session.auth === "tokens" ? () => mutate() : null;
}
