/** The conversation, the question field, and the cited passage beside them. */
import { MessageSquarePlus } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { askPath } from "../../features/documents/links";
import { PipelineSelect } from "../../features/documents/PipelineSelect";
import type { Pipeline } from "../../features/documents/queries";
import { scrollWithin } from "../../features/documents/scroll";
import { Button } from "../../ui/Button";
import { Page } from "../../ui/Page";
import { useConversation } from "./conversation";
import { PassagePanel, type ShownPassage } from "./PassagePanel";
import { QuestionForm } from "./QuestionForm";
import { Start } from "./Start";
import { TurnView } from "./TurnView";
import { useAskSettings } from "./useAskSettings";

export function ConversationView({ pipeline, pipelines }: { pipeline: Pipeline; pipelines: Pipeline[] }) {
  const navigate = useNavigate();
  const settings = useAskSettings(pipeline);
  const { turns, ask, lastQuestion, clear } = useConversation(pipeline.id);
  const [shown, setShown] = useState<ShownPassage | null>(null);
  const turnsRef = useRef<HTMLDivElement>(null);
  const { question, classification, isLoading } = settings;
  const connection = settings.connection?.id ?? null;

  // A question in the address is asked at once, and not again when the page is opened a second time.
  useEffect(() => {
    if (question && !isLoading && lastQuestion() !== question) {
      ask({ question, classification, connection });
    }
  }, [question, classification, connection, isLoading, ask, lastQuestion]);

  const count = turns.length;
  useEffect(() => {
    if (count > 0) scrollWithin(turnsRef.current, turnsRef.current?.lastElementChild, "start");
  }, [count]);

  const submit = (question: string, chosen = classification) => {
    ask({ question, classification: chosen, connection });
    settings.set({ q: question, classification: chosen });
  };
  const startAgain = () => {
    clear();
    setShown(null);
    settings.set({ q: null });
  };

  return (
    <Page
      title="Ask"
      layout="full"
      actions={
        <>
          {pipelines.length > 1 && (
            <PipelineSelect
              isLabelHidden
              pipelines={pipelines}
              value={pipeline.id}
              onChange={(id) => navigate(askPath(id))}
            />
          )}
          {count > 0 && (
            <Button onPress={startAgain}>
              <MessageSquarePlus size={16} aria-hidden /> New conversation
            </Button>
          )}
        </>
      }
    >
      <div className="ask" data-passage={shown !== null || undefined}>
        <section className="ask-conversation" aria-label="Conversation">
          <div className="ask-turns" ref={turnsRef}>
            {count === 0 && <Start pipeline={pipeline} onAsk={submit} />}
            {turns.map((turn, index) => (
              <TurnView
                key={turn.id}
                turn={turn}
                pipelineId={pipeline.id}
                isLast={index === count - 1}
                shown={shown}
                onShow={setShown}
                otherClassifications={pipeline.classifications.filter((id) => id !== turn.classification)}
                onAskAgain={(classification = turn.classification) => submit(turn.question, classification)}
              />
            ))}
          </div>
          <QuestionForm pipeline={pipeline} settings={settings} lastTurn={turns.at(-1)} onAsk={submit} />
        </section>
        {shown && <PassagePanel shown={shown} pipelineId={pipeline.id} onClose={() => setShown(null)} />}
      </div>
    </Page>
  );
}
