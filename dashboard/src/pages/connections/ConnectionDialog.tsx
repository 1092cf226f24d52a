/** Form of a new connection to a language model. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data } from "../../api/client";
import { connectionsQuery } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";

export function ConnectionDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [base_url, setBaseUrl] = useState("");
  const [api_key, setApiKey] = useState("");
  const [model, setModel] = useState("");
  const [contextWindow, setContextWindow] = useState("");
  const create = useMutation({
    mutationFn: () => {
      const context_window = contextWindow.trim() === "" ? null : Number(contextWindow);
      const body = { name, base_url, api_key, model, context_window, extra_headers: {} };
      return data(api.POST("/api/llm-connections", { body }));
    },
    onSuccess: () => {
      onClose();
      return queries.invalidateQueries({ queryKey: connectionsQuery.queryKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Dialog title="Add a model" isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <TextField label="Name" value={name} onChange={setName} isRequired autoFocus />
        <TextField
          label="Base URL"
          description="Of an OpenAI-compatible API, usually ending with /v1. A local model: http://127.0.0.1:11434/v1"
          type="url"
          value={base_url}
          onChange={setBaseUrl}
          isRequired
        />
        <TextField
          label="Model"
          description="For example llama3.1."
          value={model}
          onChange={setModel}
          isRequired
        />
        <TextField
          label="API key"
          description="Stored encrypted; it cannot be read back. Local models accept any text."
          type="password"
          autoComplete="off"
          value={api_key}
          onChange={setApiKey}
          isRequired
        />
        <TextField
          label="Context window"
          description="In tokens; empty if it is not known."
          inputMode="numeric"
          value={contextWindow}
          onChange={setContextWindow}
          validate={(text) => (/^\d*$/.test(text.trim()) ? null : "Enter a number of tokens.")}
        />
        {create.isError && <ProblemMessage error={create.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={create.isPending}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
