/** Dialog with questions that engineers ask; a click inserts the query. */
import { useState } from "react";
import { Dialog } from "../../ui/Dialog";
import { SearchField } from "../../ui/fields";
import { QUESTIONS, type Question } from "./questions";

interface GalleryProps {
  isOpen: boolean;
  onClose: () => void;
  onChoose: (query: string) => void;
}

export function Gallery({ isOpen, onClose, onChoose }: GalleryProps) {
  const [filter, setFilter] = useState("");
  const shown = QUESTIONS.filter((question) => matches(question, filter));
  const groups = [...new Set(shown.map((question) => question.group))];
  return (
    <Dialog title="Questions engineers ask" isOpen={isOpen} onClose={onClose} size="wide">
      <SearchField label="Find a question" value={filter} onChange={setFilter} />
      {groups.length === 0 && <p className="muted">No question contains this text.</p>}
      {groups.map((group) => (
        <section key={group} aria-label={group} className="stack">
          <h3>{group}</h3>
          <ul className="query-gallery">
            {shown
              .filter((question) => question.group === group)
              .map((question) => (
                <li key={question.title}>
                  <button type="button" onClick={() => onChoose(question.query)}>
                    <strong>{question.title}</strong>
                    <span className="muted">{question.explanation}</span>
                  </button>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </Dialog>
  );
}

function matches(question: Question, filter: string): boolean {
  const text = `${question.title} ${question.explanation} ${question.query}`.toLowerCase();
  return text.includes(filter.trim().toLowerCase());
}
