/** Search of an item by tag, class or service, with completion. */
import { type KeyboardEvent, type RefObject, useId, useState } from "react";
import { type DrawingGraph, nameOf, roleOf, searchItems } from "../../features/drawing/model";

interface TagSearchProps {
  graph: DrawingGraph;
  inputRef: RefObject<HTMLInputElement | null>;
  onSelect: (id: string) => void;
  /** Moves the focus on, to where keys act on the item. */
  onChosen: () => void;
}

export function TagSearch({ graph, inputRef, onSelect, onChosen }: TagSearchProps) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const listId = useId();
  const found = searchItems(graph, text);
  const choose = (index: number) => {
    const node = found[index];
    if (!node) return;
    onSelect(node.id);
    setText("");
    onChosen();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setActive(Math.min(active + 1, found.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
    else if (event.key === "Enter") choose(active);
    else if (event.key === "Escape") setText("");
    else return;
    event.preventDefault();
  };
  return (
    <div className="tag-search">
      <input
        ref={inputRef}
        className="input"
        role="combobox"
        aria-label="Find an item"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? `${listId}-${active}` : undefined}
        placeholder="Tag, class or service  /"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setText("")}
      />
      <div
        id={listId}
        role="listbox"
        aria-label="Tags"
        className="tag-search-list"
        hidden={found.length === 0}
      >
        {found.map((node, index) => (
          // The keys of the input choose an option; the pointer must not take its focus.
          <div
            key={node.id}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onMouseDown={(event) => {
              event.preventDefault();
              choose(index);
            }}
          >
            <span className="tag">{nameOf(node, node.id)}</span> <span className="muted">{roleOf(node)}</span>
          </div>
        ))}
      </div>
      <p role="status" className="tag-search-none" hidden={text.trim() === "" || found.length > 0}>
        {text.trim() !== "" && found.length === 0 && "No item has this tag, class or service."}
      </p>
    </div>
  );
}
