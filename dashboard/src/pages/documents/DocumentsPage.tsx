/** The page "Documents": pipelines, the documents of a pipeline, and a document beside its chunks. */
import { Route, Routes } from "react-router";
import { DocumentView } from "./DocumentView";
import { PipelineList } from "./PipelineList";
import { PipelineView } from "./PipelineView";
import "./documents-page.css";

export default function DocumentsPage() {
  return (
    <Routes>
      <Route index element={<PipelineList />} />
      <Route path=":pipelineId" element={<PipelineView />} />
      <Route path=":pipelineId/:documentId" element={<DocumentView />} />
    </Routes>
  );
}
