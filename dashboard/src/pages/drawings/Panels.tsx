/** The panels beside a drawing; on a phone, a sheet at the bottom that opens and closes. */
import { ChevronDown, ChevronUp } from "lucide-react";
import { useState } from "react";
import type { DrawingGraph } from "../../features/drawing/model";
import { IconButton } from "../../ui/Button";
import { Tabs } from "../../ui/Tabs";
import { ChangesPanel } from "./ChangesPanel";
import { ItemPanel } from "./ItemPanel";
import { LISTS, ListPanel } from "./ListPanel";
import type { ChangeState, DrawingState } from "./state";

interface PanelsProps {
  graphId: string;
  graph: DrawingGraph;
  state: DrawingState;
  change: ChangeState;
  onSelect: (id: string | null) => void;
}

export function Panels({ graphId, graph, state, change, onSelect }: PanelsProps) {
  const [isOpen, setOpen] = useState(false);
  const lists = LISTS.map((list) => ({
    id: list.id,
    label: list.label,
    content: (
      <ListPanel list={list} graphId={graphId} graph={graph} selected={state.node} onSelect={onSelect} />
    ),
  }));
  const tabs = [
    {
      id: "item",
      label: "Item",
      content: (
        <ItemPanel graphId={graphId} graph={graph} state={state} change={change} onSelect={onSelect} />
      ),
    },
    ...lists,
    {
      id: "changes",
      label: "Changes",
      content: <ChangesPanel graphId={graphId} state={state} change={change} onSelect={onSelect} />,
    },
  ];
  const selected = tabs.some((tab) => tab.id === state.panel) ? (state.panel ?? "item") : "item";
  return (
    <aside className="drawing-panels" aria-label="Panels" data-open={isOpen || undefined}>
      <div className="sheet-handle">
        <IconButton label={isOpen ? "Close the panels" : "Open the panels"} onPress={() => setOpen(!isOpen)}>
          {isOpen ? <ChevronDown size={18} /> : <ChevronUp size={18} />}
        </IconButton>
      </div>
      <Tabs
        label="Panels"
        tabs={tabs}
        selected={selected}
        onSelect={(panel) => change({ panel: panel === "item" ? null : panel })}
      />
    </aside>
  );
}
