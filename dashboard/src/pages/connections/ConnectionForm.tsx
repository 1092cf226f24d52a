/** Adds or changes a language model. The API key is write-only, and is needed again when the base URL changes. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { connectionsQuery, type LlmConnection } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/fields";
import { PasswordField } from "../../ui/PasswordField";
import { showSuccess } from "../../ui/toast";
import { EgressHelp } from "./EgressHelp";
import { headersOf } from "./headerLines";

interface ConnectionFormProps {
  /** The model to change; null for a new one. */
  connection: LlmConnection | null;
  onClose: () => void;
}

export function ConnectionForm({ connection, onClose }: ConnectionFormProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(connection?.name ?? "");
  const [baseUrl, setBaseUrl] = useState(connection?.base_url ?? "");
  const [apiKey, setApiKey] = useState("");
  const [model, setModel] = useState(connection?.model ?? "");
  const [contextWindow, setContextWindow] = useState(String(connection?.context_window ?? ""));
  const [headerText, setHeaderText] = useState("");
  const headers = headersOf(headerText);
  const isKeyNeeded = connection === null || baseUrl.trim() !== connection.base_url;
  const isWindowWrong = !/^\d*$/.test(contextWindow.trim());
  const isComplete =
    [name, baseUrl, model].every((text) => text.trim() !== "") &&
    (!isKeyNeeded || apiKey !== "") &&
    headers !== null &&
    !isWindowWrong;
  const save = useMutation({
    mutationFn: () => {
      const fields = {
        name: name.trim(),
        model: model.trim(),
        context_window: contextWindow.trim() === "" ? null : Number(contextWindow),
        extra_headers: headers ?? {},
      };
      if (connection === null)
        return data(
          api.POST("/api/llm-connections", {
            body: { ...fields, base_url: baseUrl.trim(), api_key: apiKey },
          }),
        );
      return data(
        api.PATCH("/api/llm-connections/{connection_id}", {
          params: { path: { connection_id: connection.id } },
          body: {
            ...fields,
            ...(isKeyNeeded ? { base_url: baseUrl.trim() } : {}),
            ...(apiKey === "" ? {} : { api_key: apiKey }),
          },
        }),
      );
    },
    onSuccess: ({ name }) => {
      queries.invalidateQueries({ queryKey: connectionsQuery.queryKey });
      showSuccess(`${name} is saved.`);
      onClose();
    },
  });
  return (
    <Dialog title={connection === null ? "Add a model" : `Edit ${connection.name}`} isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) save.mutate();
        }}
      >
        <TextField label="Name" value={name} onChange={setName} isRequired maxLength={128} autoFocus />
        <TextField
          label="Base URL"
          description="Usually ends with /v1."
          placeholder="https://api.openai.com/v1"
          type="url"
          value={baseUrl}
          onChange={setBaseUrl}
          isRequired
        />
        <PasswordField
          label="API key"
          shows="key"
          description={keyHelp(connection, isKeyNeeded)}
          autoComplete="off"
          value={apiKey}
          onChange={setApiKey}
          isRequired={isKeyNeeded}
        />
        <TextField
          label="Model"
          description="The name that the server uses."
          value={model}
          onChange={setModel}
          isRequired
        />
        <details className="more-fields">
          <summary>More settings</summary>
          <div className="stack">
            <TextField
              label="Context window"
              description="In tokens; empty if it is not known."
              error={isWindowWrong ? "Expected a number." : undefined}
              inputMode="numeric"
              value={contextWindow}
              onChange={setContextWindow}
            />
            <TextField
              label="Additional headers"
              description={
                connection?.extra_headers.length
                  ? `Stored: ${connection.extra_headers.join(", ")}; their values cannot be read back. A line such as “X-Org: plant” adds or replaces one.`
                  : "One per line, such as “X-Org: plant”."
              }
              error={headers === null ? "Expected lines of the form “Name: value”." : undefined}
              rows={2}
              value={headerText}
              onChange={setHeaderText}
            />
          </div>
        </details>
        {save.isError && <EgressHelp error={save.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isDisabled={!isComplete || save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function keyHelp(connection: LlmConnection | null, isKeyNeeded: boolean): string {
  if (connection === null)
    return "Stored encrypted and sent to the base URL only. If the server needs none, enter any text.";
  return isKeyNeeded
    ? "A key is sent to the address that it was entered for only: enter it again for the new base URL."
    : "Empty: the stored key stays.";
}
