/** The way back to the pipelines, and from a document to its pipeline. */
import { Link } from "react-router";
import { pipelinePath } from "../../features/documents/links";
import type { Pipeline } from "../../features/documents/queries";

export function Breadcrumbs({ pipeline }: { pipeline?: Pipeline }) {
  return (
    <>
      <Link to="/documents">Documents</Link>
      {pipeline && (
        <>
          {" / "}
          <Link to={pipelinePath(pipeline.id)}>{pipeline.name}</Link>
        </>
      )}
    </>
  );
}
