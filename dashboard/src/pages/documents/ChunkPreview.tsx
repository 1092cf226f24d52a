/** Preview of the chunks of a text or a file, while the parameters of the splitter change. Nothing is stored. */
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useState } from "react";
import { FileTrigger, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { checked, type Schemas } from "../../api/client";
import { documentPath, type PlatformDocument } from "../../features/documents/queries";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/fields";
import { formatCount, formatNumber } from "../../ui/format";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showError } from "../../ui/toast";
import { SAMPLE_TEXT } from "./sampleText";
import type { Splitter } from "./splitterForm";

interface ChunkPreviewProps {
  splitter: Splitter;
  /** Embedding model, for splitters by meaning. */
  model: string;
  /** Documents to try the splitter with. */
  documents: PlatformDocument[];
}

export function ChunkPreview({ splitter, model, documents }: ChunkPreviewProps) {
  const [text, setText] = useState(SAMPLE_TEXT);
  const [file, setFile] = useState<File | null>(null);
  const load = useMutation({
    mutationFn: async (document: PlatformDocument | undefined) => {
      if (!document) return null;
      const content = await checked(
        await fetch(`${documentPath(document.pipeline_id, document.id)}/content`),
      );
      return new File([await content.blob()], document.filename);
    },
    onSuccess: setFile,
    onError: showError,
  });
  const input = useSettled(JSON.stringify({ splitter, model, text: file ? null : text }));
  const preview = useQuery({
    queryKey: ["preview", input, file?.name, file?.size, file?.lastModified],
    queryFn: ({ signal }) => requestPreview(input, file, signal),
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 60_000,
    gcTime: 60_000,
  });
  return (
    <section className="preview" aria-label="Preview of the chunks">
      <div className="row">
        <h3 className="grow">Preview of the chunks</h3>
        {file && (
          <Button size="small" kind="quiet" onPress={() => setFile(null)}>
            Use the text
          </Button>
        )}
        {documents.length > 0 && (
          <MenuTrigger>
            <Button size="small" isDisabled={load.isPending}>
              Try a document
            </Button>
            <Popover className="popover">
              <Menu
                className="menu"
                items={documents}
                onAction={(id) => load.mutate(documents.find((document) => document.id === id))}
              >
                {(document) => <MenuItem className="menu-item">{document.filename}</MenuItem>}
              </Menu>
            </Popover>
          </MenuTrigger>
        )}
        <FileTrigger onSelect={(files) => setFile(files?.[0] ?? null)}>
          <Button size="small">Try a file</Button>
        </FileTrigger>
      </div>
      {file ? (
        <p className="muted">{file.name}</p>
      ) : (
        <TextField label="Sample text" rows={4} value={text} onChange={setText} />
      )}
      {preview.isError ? (
        <ProblemMessage error={preview.error} />
      ) : (
        preview.data && <PreviewChunks preview={preview.data} isStale={preview.isPlaceholderData} />
      )}
    </section>
  );
}

function PreviewChunks({ preview, isStale }: { preview: Schemas["Preview"]; isStale: boolean }) {
  return (
    <>
      <p className="muted" role="status">
        {formatCount(preview.chunk_count, "chunk")} of {formatCount(preview.characters, "character")}
        {preview.truncated && `; the first ${formatNumber(preview.chunks.length)} are shown`}
      </p>
      <ol className="preview-chunks" data-stale={isStale || undefined} tabIndex={0}>
        {preview.chunks.map((chunk) => (
          <li key={chunk.index}>
            <small className="muted">
              {chunk.index + 1} · {formatCount([...chunk.text].length, "character")} · about{" "}
              {formatCount(chunk.token_estimate, "token")}
              {chunk.headings.length > 0 && ` · ${chunk.headings.join(" › ")}`}
            </small>
            <p className="passage-text">{chunk.text}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

async function requestPreview(
  input: string,
  file: File | null,
  signal: AbortSignal,
): Promise<Schemas["Preview"]> {
  const { splitter, model, text } = JSON.parse(input) as {
    splitter: Splitter;
    model: string;
    text: string | null;
  };
  const form = new FormData();
  form.set("text_splitter", JSON.stringify(splitter));
  form.set("embedding_model", model);
  if (file) form.set("file", file);
  const request: RequestInit = file
    ? { body: form }
    : {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ text, text_splitter: splitter, embedding_model: model }),
      };
  return (
    await checked(await fetch("/api/preview?limit=100", { method: "POST", signal, ...request }))
  ).json();
}

/** A value that follows another one when it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), 350);
    return () => window.clearTimeout(timer);
  }, [value]);
  return useDeferredValue(settled);
}
