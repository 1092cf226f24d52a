/** The page "Ask": a conversation with the documents of a pipeline. */
import { useQuery } from "@tanstack/react-query";
import { MessageCircleQuestion } from "lucide-react";
import { Navigate, Route, Routes, useParams, useSearchParams } from "react-router";
import { askPath } from "../../features/documents/links";
import { type Pipeline, pipelinesQuery } from "../../features/documents/queries";
import { ButtonLink } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { ConversationView } from "./ConversationView";
import "./ask.css";

export default function AskPage() {
  const pipelines = useQuery(pipelinesQuery);
  if (pipelines.isError)
    return (
      <Message content={<ProblemMessage error={pipelines.error} onRetry={() => pipelines.refetch()} />} />
    );
  if (!pipelines.data) return <Message content={<Loading label="Pipelines" />} />;
  const first = pipelines.data[0];
  if (!first) return <Message content={<NoPipeline />} />;
  return (
    <Routes>
      <Route index element={<FirstPipeline id={first.id} />} />
      <Route path=":pipelineId" element={<PipelineConversation pipelines={pipelines.data} />} />
    </Routes>
  );
}

function Message({ content }: { content: React.ReactNode }) {
  return <Page title="Ask">{content}</Page>;
}

function FirstPipeline({ id }: { id: string }) {
  const [search] = useSearchParams();
  return <Navigate to={`${askPath(id)}?${search}`} replace />;
}

function PipelineConversation({ pipelines }: { pipelines: Pipeline[] }) {
  const { pipelineId } = useParams();
  const pipeline = pipelines.find((pipeline) => pipeline.id === pipelineId);
  if (!pipeline) return <Message content={<NoSuchPipeline />} />;
  return <ConversationView key={pipeline.id} pipeline={pipeline} pipelines={pipelines} />;
}

function NoSuchPipeline() {
  return (
    <Empty icon={MessageCircleQuestion} title="There is no such pipeline">
      <p>It was deleted, or your account may not read it.</p>
      <ButtonLink href="/documents">Go to documents</ButtonLink>
    </Empty>
  );
}

function NoPipeline() {
  return (
    <Empty icon={MessageCircleQuestion} title="There are no documents to ask">
      <p>Answers quote the documents of a pipeline. Create one and upload documents first.</p>
      <ButtonLink href="/documents" kind="primary">
        Go to documents
      </ButtonLink>
    </Empty>
  );
}
