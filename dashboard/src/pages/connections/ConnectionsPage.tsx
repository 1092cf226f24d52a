/** The page "Models": the language models that can answer questions. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Cable, Plus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client";
import { connectionsQuery, type LlmConnection } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { showError, showSuccess } from "../../ui/toast";
import { ConnectionCard } from "./ConnectionCard";
import { ConnectionForm } from "./ConnectionForm";
import { LocalModelHelp } from "./LocalModelHelp";
import "./connections.css";
import { QueryState } from "../../ui/QueryState";

export default function ConnectionsPage() {
  const connections = useQuery(connectionsQuery);
  const [isAdding, setAdding] = useState(false);
  const [edited, setEdited] = useState<LlmConnection | null>(null);
  const [deleted, setDeleted] = useState<LlmConnection | null>(null);
  return (
    <Page
      title="Models"
      description="Language models that answer questions about documents. Any server with the API of OpenAI can be used, also a local one."
      actions={
        <Button kind="primary" onPress={() => setAdding(true)}>
          <Plus size={16} aria-hidden /> Add a model
        </Button>
      }
    >
      <QueryState query={connections} label="Models" />
      {connections.data?.length === 0 && (
        <Empty icon={Cable} title="No language model is configured">
          <p>Until one is added, answers consist of quotes from the documents.</p>
        </Empty>
      )}
      <ul className="connection-list">
        {connections.data?.map((connection) => (
          <ConnectionCard
            key={connection.id}
            connection={connection}
            onEdit={() => setEdited(connection)}
            onDelete={() => setDeleted(connection)}
          />
        ))}
      </ul>
      <LocalModelHelp isOpen={connections.data?.length === 0} />
      {isAdding && <ConnectionForm connection={null} onClose={() => setAdding(false)} />}
      {edited && <ConnectionForm connection={edited} onClose={() => setEdited(null)} />}
      {deleted && <DeleteConnection connection={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  );
}

function DeleteConnection({ connection, onClose }: { connection: LlmConnection; onClose: () => void }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      api.DELETE("/api/llm-connections/{connection_id}", {
        params: { path: { connection_id: connection.id } },
      }),
    onSuccess: () => {
      queries.invalidateQueries({ queryKey: connectionsQuery.queryKey });
      showSuccess(`${connection.name} is deleted.`);
      onClose();
    },
    onError: showError,
  });
  return (
    <Confirm
      title="Delete the model?"
      isOpen
      action="Delete"
      isPending={remove.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        Questions can no longer name <strong>{connection.name}</strong>, and its API key is deleted from the
        service.
      </p>
    </Confirm>
  );
}
