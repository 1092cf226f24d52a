/** The panels beside a drawing; on a phone, a sheet at the bottom that opens and closes. */
import { ChevronDown, ChevronUp } from "lucide-react";
import { useState } from "react";
import { classOf, type DrawingGraph, type GraphNode, nameOf } from "../../features/drawing/model";
import type { DrawingScope } from "../../features/drawing/queries";
import { IconButton } from "../../ui/Button";
import { Tabs } from "../../ui/Tabs";
import { ChangesPanel } from "./ChangesPanel";
import { ItemPanel } from "./ItemPanel";
import { LISTS, ListPanel } from "./ListPanel";
import type { ChangeState, DrawingState } from "./state";
import type { Comparison } from "./useComparison";
import type { Partner } from "./usePartners";

interface PanelsProps {
  scope: DrawingScope;
  graph: DrawingGraph;
  comparison: Comparison | null;
  partner: (node: GraphNode) => Partner | null;
  state: DrawingState;
  change: ChangeState;
  onSelect: (id: string | null) => void;
}

export function Panels({ scope, graph, comparison, partner, state, change, onSelect }: PanelsProps) {
  const [opened, setOpen] = useState<boolean | null>(null);
  // The answer of an action, or a list of the address, is what the person waits for.
  const isOpen = opened ?? ((state.view !== null && state.node !== null) || state.panel !== null);
  const node = state.node === null ? undefined : graph.nodeById.get(state.node);
  const lists = LISTS.map((list) => ({
    id: list.id,
    label: list.label,
    content: <ListPanel list={list} scope={scope} graph={graph} selected={state.node} onSelect={onSelect} />,
  }));
  const tabs = [
    {
      id: "item",
      label: "Item",
      content: (
        <ItemPanel
          scope={scope}
          graph={graph}
          state={state}
          partner={partner}
          onSelect={onSelect}
          onLook={(at) => change({ at })}
        />
      ),
    },
    ...lists,
    {
      id: "changes",
      label: "Changes",
      content: (
        <ChangesPanel
          graphId={scope.id}
          comparison={comparison}
          state={state}
          change={change}
          onSelect={onSelect}
        />
      ),
    },
  ];
  const selected = tabs.some((tab) => tab.id === state.panel) ? (state.panel ?? "item") : "item";
  return (
    <aside className="drawing-panels" aria-label="Panels" data-open={isOpen || undefined}>
      <div className="sheet-handle">
        <IconButton label={isOpen ? "Close the panels" : "Open the panels"} onPress={() => setOpen(!isOpen)}>
          {isOpen ? <ChevronDown size={18} /> : <ChevronUp size={18} />}
        </IconButton>
        {!isOpen && node && (
          <p className="sheet-item">
            <strong>{nameOf(node, node.id)}</strong> <span className="muted">{classOf(node)}</span>
          </p>
        )}
      </div>
      <Tabs
        label="Panels"
        tabs={tabs}
        selected={selected}
        onSelect={(panel) => {
          setOpen(true);
          change({ panel: panel === "item" ? null : panel });
        }}
      />
    </aside>
  );
}
