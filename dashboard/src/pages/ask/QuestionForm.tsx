/** The question field, with the classification of the documents and the model that answers. */
import { ArrowUp, Square } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { Link } from "react-router";
import type { Pipeline } from "../../features/documents/queries";
import { useIsAdministrator } from "../../features/session/ownAccount";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/fields";
import { stopTurn, type Turn } from "./conversation";
import { NO_MODEL, type useAskSettings } from "./useAskSettings";

interface QuestionFormProps {
  pipeline: Pipeline;
  settings: ReturnType<typeof useAskSettings>;
  lastTurn: Turn | undefined;
  onAsk: (question: string) => void;
}

export function QuestionForm({ pipeline, settings, lastTurn, onAsk }: QuestionFormProps) {
  const [text, setText] = useState("");
  const isRunning = lastTurn?.state === "running";
  const submit = () => {
    if (text.trim() === "" || isRunning) return;
    onAsk(text.trim());
    setText("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      className="ask-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        aria-label="Question"
        placeholder={lastTurn ? "Ask a follow-up question" : "Ask a question"}
        rows={2}
        maxLength={8000}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="ask-form-bar">
        <Select
          label="Search in"
          choices={pipeline.classifications.map((id) => ({ id, label: id }))}
          value={settings.classification}
          onChange={(classification) => settings.set({ classification })}
        />
        <ModelChoice settings={settings} />
        {isRunning ? (
          <Button onPress={() => stopTurn(lastTurn.id)}>
            <Square size={14} aria-hidden /> Stop
          </Button>
        ) : (
          <Button kind="primary" type="submit" isDisabled={text.trim() === ""}>
            <ArrowUp size={16} aria-hidden /> Ask
          </Button>
        )}
      </div>
    </form>
  );
}

/** Says how questions are answered without a language model, and who can connect one. */
function WithoutModel() {
  const isAdministrator = useIsAdministrator();
  return (
    <p className="ask-model muted">
      Answers quote the documents.{" "}
      {isAdministrator ? (
        <Link to="/connections">Connect a language model</Link>
      ) : (
        "An administrator can connect a language model."
      )}
    </p>
  );
}

function ModelChoice({ settings }: { settings: ReturnType<typeof useAskSettings> }) {
  const { connections, connection } = settings;
  if (connections.length === 0) {
    return <WithoutModel />;
  }
  return (
    <Select
      label="Model"
      isLabelHidden
      choices={[
        ...connections.map((row) => ({ id: row.id, label: row.name, description: row.model })),
        { id: NO_MODEL, label: "Quotes only", description: "Sentences of the documents, no language model" },
      ]}
      value={connection?.id ?? NO_MODEL}
      onChange={(model) => settings.set({ model })}
    />
  );
}
