/** A text splitter with its parameters, beside the chunks that it makes. */
import type { PlatformDocument, TextSplitter } from "../../features/documents/queries";
import { ChunkPreview } from "./ChunkPreview";
import { type SplitterChoice, SplitterFields } from "./SplitterFields";
import { splitterErrors, splitterOf } from "./splitterForm";

interface SplitterStepProps {
  splitters: TextSplitter[];
  choice: SplitterChoice;
  onChange: (choice: SplitterChoice) => void;
  /** A pipeline to preview with; null if there is none yet. */
  previewPipelineId: string | null;
  /** Documents to try the splitter with. */
  documents?: PlatformDocument[];
}

const NO_DOCUMENTS: PlatformDocument[] = [];

export function SplitterStep(props: SplitterStepProps) {
  const { splitters, choice, onChange, previewPipelineId, documents = NO_DOCUMENTS } = props;
  const splitter = splitters.find((splitter) => splitter.name === choice.name);
  const errors = splitter ? splitterErrors(splitter, choice.values) : {};
  const isValid = splitter !== undefined && Object.keys(errors).length === 0;
  return (
    <div className="splitter-step">
      <SplitterFields splitters={splitters} value={choice} errors={errors} onChange={onChange} />
      {previewPipelineId === null ? (
        <p className="muted">
          The preview of chunks needs a pipeline. After this first one is created, “Reindex” shows how other
          parameters split its documents, before anything changes.
        </p>
      ) : (
        isValid && (
          <ChunkPreview
            pipelineId={previewPipelineId}
            splitter={splitterOf(splitter, choice.values)}
            documents={documents}
          />
        )
      )}
    </div>
  );
}
