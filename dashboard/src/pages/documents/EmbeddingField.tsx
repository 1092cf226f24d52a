/** Choice of an embedding model. */

import type { EmbeddingModel } from "../../features/documents/queries";
import { Select, TextField } from "../../ui/fields";
import { formatSentence } from "../../ui/format";

interface EmbeddingFieldProps {
  models: EmbeddingModel[];
  /** Name, such as `hash-512` or `openai:text-embedding-3-small`. */
  value: string;
  onChange: (name: string) => void;
}

export function EmbeddingField({ models, value, onChange }: EmbeddingFieldProps) {
  const [base = "", ...rest] = value.split(":");
  const model = models.find((model) => model.name === base);
  return (
    <>
      <Select
        label="Embedding model"
        description={model && formatSentence(model.summary)}
        error={model && !model.available ? "This model is not configured in the service." : undefined}
        choices={models.map(({ name, summary, available }) => ({
          id: name,
          label: available ? name : `${name} (not configured)`,
          description: formatSentence(summary),
        }))}
        value={base}
        onChange={onChange}
      />
      {model?.available && model.dimensions === null && (
        <TextField
          label="Name of the model"
          description="Empty: the model of the service's settings."
          value={rest.join(":")}
          onChange={(name) => onChange(name === "" ? base : `${base}:${name}`)}
        />
      )}
    </>
  );
}
