/** The selected item: actions, what they found, fields and neighbors. */
import { MousePointerClick } from "lucide-react";
import { actionOf } from "../../features/drawing/actions";
import { entryText } from "../../features/drawing/isolation";
import {
  classOf,
  type DrawingGraph,
  type GraphNode,
  lineOf,
  nameOf,
  neighborsOf,
} from "../../features/drawing/model";
import type { DrawingScope } from "../../features/drawing/queries";
import { ButtonLink } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { ActionResult } from "./ActionResult";
import { AskLink } from "./AskLink";
import { ItemLink } from "./ItemLink";
import { PartnerLinks } from "./PartnerLinks";
import type { DrawingState } from "./state";
import type { Partner } from "./usePartners";

interface ItemPanelProps {
  scope: DrawingScope;
  graph: DrawingGraph;
  state: DrawingState;
  partner: (node: GraphNode) => Partner | null;
  onSelect: (id: string | null) => void;
}

export function ItemPanel({ scope, graph, state, partner, onSelect }: ItemPanelProps) {
  const id = state.node;
  const action = actionOf(state.view);
  if (id === null) {
    return (
      <Empty icon={MousePointerClick} title="Nothing is selected">
        <p className="muted">
          {action
            ? `Click the item for "${action.label}" on the drawing, or press / to find its tag.`
            : "Click an item of the drawing, or press / to find a tag. Then trace or isolate it with the buttons above the drawing."}
        </p>
      </Empty>
    );
  }
  const node = graph.nodeById.get(id);
  if (!node) return <EdgeDetails graph={graph} id={id} onSelect={onSelect} />;
  const query = action?.query(graph, id, state.to) ?? null;
  const queryLink = `/query?graph=${encodeURIComponent(scope.id)}&q=${encodeURIComponent(`node(${JSON.stringify(id)})`)}`;
  return (
    <div className="stack">
      <div>
        <h2>{nameOf(node, id)}</h2>
        <p className="muted">{[classOf(node), node.service].filter(Boolean).join(", ")}</p>
      </div>
      <PartnerLinks graphId={scope.id} node={node} partner={partner(node)} />
      {action?.id === "path" && state.to === null && (
        <p role="status">Select the item at the other end of the path.</p>
      )}
      {action && query !== null && (
        <ActionResult scope={scope} graph={graph} action={action.id} query={query} onSelect={onSelect} />
      )}
      <Fields node={node} />
      <Connections graph={graph} id={id} onSelect={onSelect} />
      <div className="row">
        <AskLink tag={nameOf(node, id)} />
        {scope.sheets.length === 0 && (
          <ButtonLink size="small" href={queryLink}>
            Open in the query page
          </ButtonLink>
        )}
      </div>
    </div>
  );
}

const HIDDEN = new Set(["attributes", "graphics", "orig_x", "orig_y"]);

function Fields({ node }: { node: GraphNode }) {
  const fields = Object.entries(node).filter(([name]) => !HIDDEN.has(name));
  const attributes = node.attributes ?? [];
  return (
    <section aria-label="Fields">
      <h3>Fields</h3>
      <dl className="field-list">
        {fields.map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll("_", " ")}</dt>
            <dd>{text(value)}</dd>
          </div>
        ))}
        {attributes.map(({ name, value, unit }) => (
          <div key={`attribute ${name}`}>
            <dt>{name.replaceAll("_", " ")}</dt>
            <dd>
              {text(value)} {unit}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function text(value: unknown): string {
  if (value === null || value === undefined) return "not stated";
  return typeof value === "object" ? entryText(value) : String(value);
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
