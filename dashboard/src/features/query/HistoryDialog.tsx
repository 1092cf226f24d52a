/** Dialog with the queries that were run on a graph in this browser. */
import { Trash2 } from "lucide-react";
import { Button, IconButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import type { HistoryEntry } from "./history";

interface HistoryDialogProps {
  isOpen: boolean;
  onClose: () => void;
  history: HistoryEntry[];
  onChoose: (query: string) => void;
  onChange: (history: HistoryEntry[]) => void;
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function HistoryDialog({ isOpen, onClose, history, onChoose, onChange }: HistoryDialogProps) {
  return (
    <Dialog title="History" isOpen={isOpen} onClose={onClose} size="wide">
      {history.length === 0 && <p className="muted">Queries that you run on this drawing appear here.</p>}
      <ul className="query-history">
        {history.map((entry) => (
          <li key={entry.query}>
            <button type="button" onClick={() => onChoose(entry.query)}>
              <code>{entry.query}</code>
              <time className="muted" dateTime={entry.time} title={entry.time}>
                {dateTime.format(new Date(entry.time))}
              </time>
            </button>
            <IconButton
              label="Delete from the history"
              onPress={() => onChange(history.filter((other) => other.query !== entry.query))}
            >
              <Trash2 size={16} />
            </IconButton>
          </li>
        ))}
      </ul>
      {history.length > 0 && (
        <div className="dialog-actions">
          <Button kind="danger" onPress={() => onChange([])}>
            Delete all
          </Button>
        </div>
      )}
    </Dialog>
  );
}
