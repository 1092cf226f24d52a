/** Choice of a pipeline by name. */
import { Select } from "../../ui/fields";
import type { Pipeline } from "./queries";

interface PipelineSelectProps {
  pipelines: Pipeline[];
  value: string | null;
  onChange: (id: string) => void;
  isLabelHidden?: boolean;
}

export function PipelineSelect({ pipelines, value, onChange, isLabelHidden = false }: PipelineSelectProps) {
  const choices = pipelines.map((pipeline) => ({ id: pipeline.id, label: pipeline.name }));
  return (
    <Select
      label="Pipeline"
      choices={choices}
      value={value}
      onChange={onChange}
      isLabelHidden={isLabelHidden}
    />
  );
}
