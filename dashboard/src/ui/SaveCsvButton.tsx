/** A button that saves a table as CSV. */
import { Download } from "lucide-react";
import { Button } from "./Button";
import { csvOf } from "./csv";
import { saveFile } from "./saveFile";

interface SaveCsvButtonProps {
  /** Name of the file without its ending. */
  name: string;
  /** The rows with their headings, made when they are saved. */
  rows: () => string[][];
}

export function SaveCsvButton({ name, rows }: SaveCsvButtonProps) {
  const save = () => saveFile(new Blob([csvOf(rows())], { type: "text/csv" }), `${name}.csv`);
  return (
    <Button size="small" onPress={save}>
      <Download size={14} aria-hidden /> Save as CSV
    </Button>
  );
}
