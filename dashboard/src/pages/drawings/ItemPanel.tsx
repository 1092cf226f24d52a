/** The selected item: actions, what they found, fields and neighbors. */
import { MousePointerClick } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { actionOf } from "../../features/drawing/actions";
import { fieldRows } from "../../features/drawing/fields";
import {
  type DrawingGraph,
  type GraphNode,
  lineOf,
  nameOf,
  neighborsOf,
  roleOf,
} from "../../features/drawing/model";
import type { DrawingScope } from "../../features/drawing/queries";
import { Button, ButtonLink } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { ActionResult, queryPath } from "./ActionResult";
import { AskLink } from "./AskLink";
import { ItemLink } from "./ItemLink";
import { PartnerLinks } from "./PartnerLinks";
import { type DrawingState, itemInView } from "./state";
import type { Partner } from "./usePartners";

interface ItemPanelProps {
  scope: DrawingScope;
  graph: DrawingGraph;
  state: DrawingState;
  partner: (node: GraphNode) => Partner | null;
  onSelect: (id: string | null) => void;
  /** Shows an item of the result, which stays. */
  onLook: (id: string) => void;
}

export function ItemPanel({ scope, graph, state, partner, onSelect, onLook }: ItemPanelProps) {
  const id = state.node;
  const action = actionOf(state.view);
  if (id === null) return <NothingSelected scope={scope} graph={graph} state={state} onSelect={onSelect} />;
  const node = graph.nodeById.get(id);
  if (!node) return <EdgeDetails graph={graph} id={id} onSelect={onSelect} />;
  const query = action?.query(graph, id, state.to) ?? null;
  const looked = graph.nodeById.get(itemInView(state) ?? id) ?? node;
  return (
    <div className="stack">
      <ItemTitle node={node} />
      <PartnerLinks graphId={scope.id} node={node} partner={partner(node)} />
      {action?.id === "path" && state.to === null && (
        <p role="status">Select the item at the other end of the path.</p>
      )}
      {action && query !== null && (
        <ActionResult
          scope={scope}
          graph={graph}
          name={nameOf(node, id)}
          action={action.id}
          query={query}
          onSelect={onLook}
        />
      )}
      {looked === node ? (
        <Fields node={node} />
      ) : (
        <LookedAt key={looked.id} node={looked}>
          <Button size="small" onPress={() => onSelect(looked.id)}>
            {action?.label} this
          </Button>
        </LookedAt>
      )}
      <Connections graph={graph} id={looked.id} onSelect={onSelect} />
      <ItemLinks scope={scope} node={looked} />
    </div>
  );
}

function ItemTitle({ node }: { node: GraphNode }) {
  return (
    <div>
      <h2>{nameOf(node, node.id)}</h2>
      <p className="muted">{roleOf(node)}</p>
    </div>
  );
}

/** An item of the result, below it. */
function LookedAt({ node, children }: { node: GraphNode; children: ReactNode }) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    // New browsers return a promise, which is no way to clean up.
    ref.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <section className="stack" aria-label="Item of the result" ref={ref}>
      <div className="row">
        <ItemTitle node={node} />
        <span className="grow" />
        {children}
      </div>
      <Fields node={node} />
    </section>
  );
}

function ItemLinks({ scope, node }: { scope: DrawingScope; node: GraphNode }) {
  const query = `node(${JSON.stringify(node.id)})`;
  return (
    <div className="row item-actions">
      <AskLink tag={nameOf(node, node.id)} />
      {scope.sheets.length === 0 && (
        <ButtonLink size="small" href={queryPath(scope.id, query)}>
          Open in the query page
        </ButtonLink>
      )}
    </div>
  );
}

interface NothingSelectedProps {
  scope: DrawingScope;
  graph: DrawingGraph;
  state: DrawingState;
  onSelect: (id: string) => void;
}

/** Without an item: what the query of the address found, or what to do. */
function NothingSelected({ scope, graph, state, onSelect }: NothingSelectedProps) {
  const action = actionOf(state.view);
  if (state.highlight !== null && !action) {
    return (
      <div className="stack">
        <h2>Result of a query</h2>
        <ActionResult
          scope={scope}
          graph={graph}
          name="query"
          action="highlight"
          query={state.highlight}
          onSelect={onSelect}
        />
      </div>
    );
  }
  return (
    <Empty icon={MousePointerClick} title="Nothing is selected">
      <p className="muted">
        {action
          ? `Click the item for "${action.label}" on the drawing, or press / to find it.`
          : "Click an item of the drawing, or press / to find one. Then trace or isolate it with the buttons above the drawing."}
      </p>
    </Empty>
  );
}

function Fields({ node }: { node: GraphNode }) {
  return (
    <section aria-label="Fields">
      <h3>Fields</h3>
      <dl className="field-list">
        {fieldRows(node).map((row) => (
          <div key={row.key}>
            <dt>{row.label}</dt>
            <dd>
              {row.text} {row.note && <span className="muted">{row.note}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface PlaceProps {
  graph: DrawingGraph;
  id: string;
  onSelect: (id: string) => void;
}

function Connections({ graph, id, onSelect }: PlaceProps) {
  const line = lineOf(graph, id);
  return (
    <section aria-label="Connections">
      <h3>Connections</h3>
      {line && line !== id && (
        <p>
          Line <ItemLink graph={graph} id={line} onSelect={onSelect} />
        </p>
      )}
      <ul>
        {neighborsOf(graph, id).map((neighbor) => (
          <li key={neighbor.edge}>
            <span className="muted">{neighbor.relation}</span>{" "}
            <ItemLink graph={graph} id={neighbor.id} onSelect={onSelect} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function EdgeDetails({ graph, id, onSelect }: PlaceProps) {
  const edge = graph.edgeById.get(id);
  if (!edge) return <p>This version of the drawing has no item with the id {id}.</p>;
  return (
    <div className="stack">
      <h2>{edge.edge_classification?.startsWith("signal") ? "Signal" : "Connection"}</h2>
      <p>
        From <ItemLink graph={graph} id={edge.source} onSelect={onSelect} /> to{" "}
        <ItemLink graph={graph} id={edge.target} onSelect={onSelect} />
      </p>
      <p className="muted">{(edge.edge_classification ?? edge.edge_type ?? "").replaceAll("_", " ")}</p>
    </div>
  );
}
