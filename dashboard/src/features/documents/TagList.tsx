/** The equipment tags of a passage; those of stored drawings are links. */
import "./documents.css";
import { Link } from "react-router";
import { drawingPath, type TagNodes } from "./tags";

export function TagList({ tags, nodes }: { tags: string[]; nodes: TagNodes | undefined }) {
  if (tags.length === 0) return null;
  return (
    <ul className="tag-list" aria-label="Equipment tags">
      {tags.map((tag) => {
        const node = nodes?.get(tag);
        return (
          <li key={tag}>
            {node ? (
              <Link className="tag-chip" to={drawingPath(node)} title={`Open on the drawing ${node.graph}`}>
                {tag}
              </Link>
            ) : (
              <span className="tag-chip" title="No stored drawing has this tag">
                {tag}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
