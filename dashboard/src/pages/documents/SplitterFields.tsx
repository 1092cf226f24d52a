/** Choice of a text splitter and its parameters. */

import type { TextSplitter } from "../../features/documents/queries";
import { Select, TextField } from "../../ui/fields";
import { formatSentence } from "../../ui/format";
import { type FieldKind, fieldKind, fieldText, type SplitterValues } from "./splitterForm";

export interface SplitterChoice {
  name: string;
  values: SplitterValues;
}

interface SplitterFieldsProps {
  splitters: TextSplitter[];
  value: SplitterChoice;
  errors: Record<string, string>;
  onChange: (value: SplitterChoice) => void;
}

/** Parameters that are shown without asking; others are folded. */
const MAIN_PARAMETERS = ["chunk_size", "chunk_overlap", "length", "max_chunk_size", "headers_to_split_on"];

export function SplitterFields({ splitters, value, errors, onChange }: SplitterFieldsProps) {
  const splitter = splitters.find((splitter) => splitter.name === value.name);
  const parameters = Object.entries(splitter?.parameters ?? {});
  const main = parameters.filter(([name]) => MAIN_PARAMETERS.includes(name));
  const others = parameters.filter(([name]) => !MAIN_PARAMETERS.includes(name));
  const field = ([name, parameter]: (typeof parameters)[number]) => {
    const kind = fieldKind(parameter.kind);
    return (
      <ParameterField
        key={name}
        name={name}
        summary={parameter.summary}
        kind={kind}
        text={value.values[name] ?? fieldText(parameter.default, kind)}
        error={errors[name]}
        onChange={(text) => onChange({ ...value, values: { ...value.values, [name]: text } })}
      />
    );
  };
  return (
    <div className="stack">
      <Select
        label="Text splitter"
        description={splitter && formatSentence(splitter.summary)}
        choices={splitters.map(({ name, summary }) => ({
          id: name,
          label: name,
          description: formatSentence(summary),
        }))}
        value={value.name}
        onChange={(name) => onChange({ name, values: {} })}
      />
      {main.length > 0 && <div className="field-grid">{main.map(field)}</div>}
      {others.length > 0 && (
        <details className="more-fields">
          <summary>More parameters</summary>
          <div className="field-grid">{others.map(field)}</div>
        </details>
      )}
    </div>
  );
}

interface ParameterFieldProps {
  name: string;
  summary: string;
  kind: FieldKind;
  text: string;
  error: string | undefined;
  onChange: (text: string) => void;
}

function ParameterField({ name, summary, kind, text, error, onChange }: ParameterFieldProps) {
  const label = name.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
  if (kind.type === "choice") {
    return (
      <Select
        label={label}
        description={formatSentence(summary)}
        choices={kind.choices.map((choice) => ({ id: choice, label: choice }))}
        value={text}
        onChange={onChange}
      />
    );
  }
  return (
    <TextField
      label={label}
      description={formatSentence(summary)}
      error={error}
      inputMode={kind.type === "integer" ? "numeric" : "text"}
      value={text}
      onChange={onChange}
    />
  );
}
