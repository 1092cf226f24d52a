/** Start of a conversation: questions that the documents answer. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { ArrowRight, FileText } from "lucide-react";
import { pipelinePath } from "../../features/documents/links";
import { documentsQuery, type Pipeline } from "../../features/documents/queries";
import { ButtonLink } from "../../ui/Button";
import { formatCount } from "../../ui/format";
import { suggestionsFor } from "./suggestions";

interface StartProps {
  pipeline: Pipeline;
  onAsk: (question: string, classification: string) => void;
}

export function Start({ pipeline, onAsk }: StartProps) {
  const documents = useInfiniteQuery(documentsQuery(pipeline.id, { status: "ready" }));
  const names = documents.data?.pages.flatMap((page) => page.data.map((document) => document.filename)) ?? [];
  const { ready } = pipeline.document_counts;
  if (ready === 0) {
    return (
      <div className="ask-start">
        <h2>{pipeline.name} has no documents yet</h2>
        <p className="muted">
          Upload manuals, data sheets or procedures; answers quote them with page and place.
        </p>
        <div>
          <ButtonLink href={pipelinePath(pipeline.id)} kind="primary">
            <FileText size={16} aria-hidden /> Upload documents
          </ButtonLink>
        </div>
      </div>
    );
  }
  return (
    <div className="ask-start">
      <h2>Ask the documents of {pipeline.name}</h2>
      <p className="muted">
        {formatCount(ready, "document")}. Each statement of an answer cites its place in a document; what the
        documents do not say is not answered.
      </p>
      <ul className="ask-suggestions">
        {suggestionsFor(names).map(({ question, classification }) => (
          <li key={question}>
            <button type="button" onClick={() => onAsk(question, classification)}>
              {question}
              <ArrowRight size={16} aria-hidden />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
