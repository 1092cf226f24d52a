/** The menu of the account: theme, help, sign-out. */
import { Info, Keyboard, KeyRound, LogOut, MonitorCog, Moon, Sun, UserRound } from "lucide-react";
import {
  Button,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Separator,
} from "react-aria-components";
import { useFrame } from "../features/frame/frame";
import { useOwnAccount } from "../features/session/ownAccount";
import { useSession } from "../features/session/session";
import { Keys } from "./shortcuts/Keys";
import { HELP_KEYS } from "./shortcuts/shortcuts";
import { applyTheme, type Theme, useTheme } from "./theme";

const THEMES: { theme: Theme; label: string; icon: typeof Sun }[] = [
  { theme: "system", label: "Theme of the system", icon: MonitorCog },
  { theme: "light", label: "Light", icon: Sun },
  { theme: "dark", label: "Dark", icon: Moon },
];

export function Account() {
  const frame = useFrame();
  const session = useSession().data;
  const login = session?.signed_in ? session.login : null;
  const actions: Record<string, () => void> = {
    shortcuts: () => frame.open("shortcuts"),
    about: () => frame.open("about"),
    password: () => frame.open("password"),
    "sign-out": () => frame.signOut?.(),
  };
  return (
    <MenuTrigger>
      <Button className="account" aria-label={login ? `Account of ${login}` : "Account"}>
        <UserRound size={18} aria-hidden />
        <span>{login ?? "Local access"}</span>
      </Button>
      <Popover className="popover" placement="top start">
        <Menu className="menu" aria-label="Account" onAction={(key) => actions[String(key)]?.()}>
          {login !== null && <OwnAccount login={login} />}
          <Themes />
          <Separator className="menu-separator" />
          <MenuItem id="shortcuts" textValue="Keyboard shortcuts" className="menu-item">
            <Keyboard size={16} aria-hidden /> <span className="grow">Keyboard shortcuts</span>
            <Keys keys={HELP_KEYS} />
          </MenuItem>
          <MenuItem id="about" textValue="About pidq" className="menu-item">
            <Info size={16} aria-hidden /> About pidq
          </MenuItem>
          {frame.signOut && <Separator className="menu-separator" />}
          {frame.signOut && (
            <MenuItem id="sign-out" textValue="Sign out" className="menu-item">
              <LogOut size={16} aria-hidden /> Sign out
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

/** Whose account it is, and its password; a service that is older than this page cannot change it. */
function OwnAccount({ login }: { login: string }) {
  const canChangePassword = useOwnAccount().data !== undefined;
  return (
    <MenuSection className="menu-section">
      <Header className="menu-header">Signed in as {login}</Header>
      {canChangePassword && (
        <MenuItem id="password" textValue="Change your password" className="menu-item">
          <KeyRound size={16} aria-hidden /> Change your password
        </MenuItem>
      )}
    </MenuSection>
  );
}

function Themes() {
  const theme = useTheme();
  return (
    <MenuSection
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[theme]}
      onSelectionChange={(keys) => applyTheme([...keys][0] as Theme)}
    >
      <Header className="visually-hidden">Theme</Header>
      {THEMES.map((row) => (
        <MenuItem key={row.theme} id={row.theme} textValue={row.label} className="menu-item">
          <row.icon size={16} aria-hidden /> <span className="grow">{row.label}</span>
          {row.theme === theme && <span aria-hidden>✓</span>}
        </MenuItem>
      ))}
    </MenuSection>
  );
}
