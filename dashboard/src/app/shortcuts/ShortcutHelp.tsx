/** The dialog that lists the shortcuts: those of all pages, and those of the page in view. */
import { useLocation } from "react-router";
import type { ShortcutRow } from "../../features/frame/shortcutRow";
import { Dialog } from "../../ui/Dialog";
import { Checkbox } from "../../ui/fields";
import { setSingleKeys, useSingleKeys } from "../../ui/singleKeys";
import { pageOf } from "../pages";
import { Keys } from "./Keys";
import { SHORTCUTS } from "./shortcuts";

export function ShortcutHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const page = pageOf(useLocation().pathname);
  const isOn = useSingleKeys();
  return (
    <Dialog title="Keyboard shortcuts" isOpen={isOpen} onClose={onClose} size="wide">
      <div className="shortcut-groups">
        <Group title="Everywhere" rows={SHORTCUTS.filter((row) => row.group === "Everywhere")} />
        {page?.shortcuts && <Group title={page.label} rows={page.shortcuts} />}
        <Group title="Go to a page" rows={SHORTCUTS.filter((row) => row.group === "Go to a page")} />
      </div>
      <Checkbox
        label="Shortcuts of single keys, without Ctrl or Cmd"
        isSelected={isOn}
        onChange={setSingleKeys}
      />
    </Dialog>
  );
}

function Group({ title, rows }: { title: string; rows: ShortcutRow[] }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <dl className="shortcut-list">
        {rows.map((row) => (
          <div key={row.keys}>
            <dt>{row.label}</dt>
            <dd>
              <Keys keys={row.keys} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
