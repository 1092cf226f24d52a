/** The palette: one field that finds pages, actions, drawings, tags, pipelines and documents. */
import { Search } from "lucide-react";
import { useState } from "react";
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  Modal,
  ModalOverlay,
  SearchField,
} from "react-aria-components";
import { useFrame } from "../../features/frame/frame";
import { formatCount } from "../../ui/format";
import { Keys } from "../shortcuts/Keys";
import type { Command } from "./command";
import { type CommandGroup, useCommands } from "./useCommands";
import "./commands.css";

export function CommandPalette() {
  const frame = useFrame();
  const isOpen = frame.dialog === "commands";
  return (
    <ModalOverlay
      className="overlay commands-overlay"
      isOpen={isOpen}
      onOpenChange={(open) => !open && frame.open(null)}
      isDismissable
    >
      <Modal className="modal commands">
        <Dialog aria-label="Search and commands" className="commands-dialog">
          <Commands />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Commands() {
  const frame = useFrame();
  const [text, setText] = useState("");
  const { groups, isSearching, failed, notes } = useCommands(text);
  const run = (key: string | number) => {
    const command = commandOf(groups, String(key));
    if (!command) return;
    frame.open(null);
    command.run(frame);
  };
  const count = groups.reduce((sum, { commands }) => sum + commands.length, 0);
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField aria-label="Search and commands" className="commands-field" autoFocus>
        <Search size={18} aria-hidden />
        <Input placeholder="Pages, drawings, tags, documents, actions" />
        <kbd>Esc</kbd>
      </SearchField>
      <ListBox
        aria-label="Results"
        className="commands-list"
        items={groups}
        selectionMode="none"
        onAction={run}
        renderEmptyState={() => (
          <p className="commands-empty muted">{isSearching ? "Searching …" : "Nothing has this name."}</p>
        )}
      >
        {(group) => <Group id={group.kind.id} group={group} />}
      </ListBox>
      {failed.length > 0 && (
        <p className="commands-failed" role="alert">
          Not searched, because the service did not respond: {failed.map(({ label }) => label).join(", ")}.
        </p>
      )}
      {notes.map((note) => (
        <p key={note} className="commands-failed" role="alert">
          {note}
        </p>
      ))}
      <p role="status" className="visually-hidden">
        {isSearching ? "" : formatCount(count, "result")}
      </p>
    </Autocomplete>
  );
}

function keyOf({ kind }: CommandGroup, command: Command): string {
  return `${kind.id} ${command.id}`;
}

function commandOf(groups: CommandGroup[], key: string): Command | undefined {
  for (const group of groups) {
    const command = group.commands.find((command) => keyOf(group, command) === key);
    if (command) return command;
  }
  return undefined;
}

function Group({ group }: { id: string; group: CommandGroup }) {
  const { label, icon: Icon } = group.kind;
  return (
    <ListBoxSection id={group.kind.id}>
      <Header className="commands-group">{label}</Header>
      {group.commands.map((command) => (
        <ListBoxItem
          key={keyOf(group, command)}
          id={keyOf(group, command)}
          textValue={command.label}
          className="commands-item"
        >
          <Icon size={16} aria-hidden />
          <span className="commands-label">{command.label}</span>
          {command.detail && <span className="commands-detail muted">{command.detail}</span>}
          {command.keys && <Keys keys={command.keys} />}
        </ListBoxItem>
      ))}
    </ListBoxSection>
  );
}
