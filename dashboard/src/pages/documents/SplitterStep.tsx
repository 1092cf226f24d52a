/** A text splitter with its parameters, beside the chunks that it makes. */
import type { PlatformDocument, TextSplitter } from "../../features/documents/queries";
import { ChunkPreview } from "./ChunkPreview";
import { type SplitterChoice, SplitterFields } from "./SplitterFields";
import { splitterErrors, splitterOf } from "./splitterForm";

interface SplitterStepProps {
  splitters: TextSplitter[];
  choice: SplitterChoice;
  onChange: (choice: SplitterChoice) => void;
  /** Embedding model, for splitters by meaning. */
  model: string;
  /** Documents to try the splitter with. */
  documents?: PlatformDocument[];
}

const NO_DOCUMENTS: PlatformDocument[] = [];

export function SplitterStep(props: SplitterStepProps) {
  const { splitters, choice, onChange, model, documents = NO_DOCUMENTS } = props;
  const splitter = splitters.find((splitter) => splitter.name === choice.name);
  const errors = splitter ? splitterErrors(splitter, choice.values) : {};
  const isValid = splitter !== undefined && Object.keys(errors).length === 0;
  return (
    <div className="splitter-step">
      <SplitterFields splitters={splitters} value={choice} errors={errors} onChange={onChange} />
      {isValid && (
        <ChunkPreview splitter={splitterOf(splitter, choice.values)} model={model} documents={documents} />
      )}
    </div>
  );
}
