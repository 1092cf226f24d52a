/** A question and its answer. */
import { useQuery } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { TagList } from "../../features/documents/TagList";
import { tagNodesQuery } from "../../features/documents/tags";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { formatNumber } from "../../ui/format";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { AnswerText } from "./AnswerText";
import type { Answer, ClaimDefect, Turn } from "./conversation";
import { FeedbackForm } from "./FeedbackForm";
import type { ShownPassage } from "./PassagePanel";
import { Sources } from "./Sources";

interface TurnViewProps {
  turn: Turn;
  pipelineId: string;
  isLast: boolean;
  shown: ShownPassage | null;
  onShow: (passage: ShownPassage) => void;
  /** The other classifications of the pipeline. */
  otherClassifications: string[];
  onAskAgain: (classification?: string) => void;
}

export function TurnView(props: TurnViewProps) {
  const { turn, pipelineId, isLast, shown, onShow, onAskAgain } = props;
  const cited = new Set(turn.answer?.citations.map((citation) => citation.marker));
  const tags = [
    ...new Set(turn.passages.filter((_, index) => cited.has(index + 1)).flatMap((passage) => passage.tags)),
  ];
  const nodes = useQuery(tagNodesQuery(turn.passages.flatMap((passage) => passage.tags))).data;
  const show = (marker: number) => {
    const passage = turn.passages[marker - 1];
    if (passage)
      onShow({ turnId: turn.id, marker, passage, answer: turn.text, question: turn.question, nodes });
  };
  const shownMarker = shown?.turnId === turn.id ? shown.marker : null;
  return (
    <article className="turn" aria-label={turn.question}>
      <h2 className="turn-question">{turn.question}</h2>
      <div
        className="turn-answer"
        aria-live={isLast ? "polite" : undefined}
        aria-busy={turn.state === "running"}
      >
        <AnswerKind turn={turn} />
        {turn.state === "running" && turn.text === "" && <Loading label="The answer" />}
        {turn.text !== "" && (
          <AnswerText
            text={turn.text}
            passages={turn.passages}
            nodes={nodes}
            shownMarker={shownMarker}
            onShow={show}
          />
        )}
        {turn.answer && <AnswerNotes answer={turn.answer} />}
        {turn.state === "failed" && <ProblemMessage error={turn.error} />}
        {turn.state === "stopped" && <p className="muted">Stopped before the answer was complete.</p>}
        {(turn.state === "failed" || turn.state === "stopped") && (
          <div>
            <Button size="small" onPress={() => onAskAgain()}>
              <RotateCcw size={14} aria-hidden /> Ask again
            </Button>
          </div>
        )}
        {isLast && turn.answer?.answered === false && (
          <AskElsewhere classifications={props.otherClassifications} onAsk={onAskAgain} />
        )}
        <TagList tags={tags.filter((tag) => nodes?.has(tag))} nodes={nodes} />
        <Sources
          passages={turn.passages}
          cited={cited}
          isComplete={turn.answer !== null}
          pipelineId={pipelineId}
          shownMarker={shownMarker}
          onShow={show}
        />
        {turn.answer?.answered && <FeedbackForm answerId={turn.answer.id} />}
      </div>
    </article>
  );
}

/** Asks the same of the documents of another classification. */
function AskElsewhere({
  classifications,
  onAsk,
}: {
  classifications: string[];
  onAsk: (id: string) => void;
}) {
  if (classifications.length === 0) return null;
  return (
    <div className="row">
      {classifications.map((id) => (
        <Button key={id} size="small" onPress={() => onAsk(id)}>
          Search in {id}
        </Button>
      ))}
    </div>
  );
}

function AnswerKind({ turn }: { turn: Turn }) {
  const { answer } = turn;
  if (!answer) return null;
  if (!answer.answered) return <Badge tone="warning">Not answered</Badge>;
  if (answer.model === "extractive")
    return <Badge tone="close">Quotes from the documents, without a language model</Badge>;
  return (
    <div className="row">
      <Badge tone="accent">{answer.model}</Badge>
      {answer.reason === "uncited" && <Badge tone="warning">Without citations</Badge>}
      {answer.reason === "unsupported" && <Badge tone="warning">Not supported by its citations</Badge>}
      <small className="muted">
        {formatNumber(answer.timings_ms.total)} ms
        {answer.usage &&
          `, ${formatNumber(answer.usage.prompt_tokens + answer.usage.completion_tokens)} tokens`}
      </small>
    </div>
  );
}

const REASONS: Record<string, string> = {
  no_documents:
    "No document with this classification is ready. Upload one, or choose another classification.",
  no_relevant_context:
    "No passage of the documents is relevant to the question. Ask with the words of the documents, such as a tag.",
  not_in_context:
    "The passages found do not contain the answer. The documents may not cover it, or it may be under another classification.",
  uncited: "The model cited no passage for this answer, or for a part of it: check it against the documents.",
  unsupported: "The cited passages do not contain everything that this answer says:",
};

/** Reasons for which a passage does not support a value or a name. */
const DEFECTS: Record<ClaimDefect, string> = {
  not_in_passage: "not in the cited passages",
  other_unit: "in the cited passages with another unit",
  other_equipment: "in the cited passages for other equipment",
  other_quantity: "in the cited passages as another quantity",
};

/** The sentences of an answer that its citations do not support, with what is missing. */
function UnsupportedSentences({ answer }: { answer: Answer }) {
  // During an upgrade, the answer may be that of an older service.
  const sentences = (answer.sentences ?? []).filter((sentence) => sentence.status === "unsupported");
  // Spans count code points, as the spread of a string does.
  const letters = [...answer.answer];
  if (sentences.length === 0) return null;
  return (
    <ul className="turn-warning">
      {sentences.map(({ span: [start, end], unsupported }) => (
        <li key={start}>
          <mark>{letters.slice(start, end).join("")}</mark>{" "}
          {unsupported.map((claim) => `“${claim.text}”: ${DEFECTS[claim.reason]}`).join("; ")}
        </li>
      ))}
    </ul>
  );
}

function AnswerNotes({ answer }: { answer: Answer }) {
  const reason = answer.reason ? REASONS[answer.reason] : undefined;
  return (
    <>
      {reason && <p className="muted">{reason}</p>}
      <UnsupportedSentences answer={answer} />
      {answer.invalid_citations.length > 0 && (
        <p className="muted">
          The answer cites passages that do not exist: {answer.invalid_citations.join(", ")}.
        </p>
      )}
      {answer.warnings.map((warning) => (
        <p key={`${warning.code}${warning.marker ?? ""}`} className="turn-warning">
          {warning.detail}
        </p>
      ))}
    </>
  );
}
