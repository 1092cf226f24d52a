/** A mail and its attachments, which are documents of their own: links from one to the other. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { documentPagePath } from "../../features/documents/links";
import { attachmentsQuery, documentQuery, type PlatformDocument } from "../../features/documents/queries";
import { StatusBadge } from "../../features/documents/StatusBadge";
import { formatCount } from "../../ui/format";

const MAIL_TYPES = ["message/rfc822", "application/vnd.ms-outlook"];

/** Number of attachments up to which they are listed without a click. */
const SHOWN = 8;

/** The attachments of a document, if it is a mail that has some. */
export function Attachments({ mail }: { mail: PlatformDocument }) {
  const isMail = MAIL_TYPES.includes(mail.content_type);
  const { data } = useQuery({
    ...attachmentsQuery(mail.pipeline_id, mail.id),
    enabled: isMail && mail.searchable,
  });
  if (!data || data.length === 0) return null;
  return (
    <section className="attachments" aria-label="Attachments">
      <details open={data.length <= SHOWN}>
        <summary>{summary(data)}</summary>
        <ul>
          {data.map((attachment) => (
            <li key={attachment.id}>
              <Link to={documentPagePath(attachment.pipeline_id, attachment.id)}>{attachment.filename}</Link>
              {attachment.status !== "ready" && <StatusBadge document={attachment} />}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

/** `20 attachments, 1 failed`: a closed list does not hide a failure. */
function summary(attachments: PlatformDocument[]): string {
  const failed = attachments.filter(({ status }) => status === "failed").length;
  const count = formatCount(attachments.length, "attachment");
  return failed > 0 ? `${count}, ${failed} failed` : count;
}

/** The link from an attachment to its mail. */
export function MailOfAttachment({ pipelineId, mailId }: { pipelineId: string; mailId: string }) {
  const { data } = useQuery(documentQuery(pipelineId, mailId));
  return (
    <span>
      Attachment of <Link to={documentPagePath(pipelineId, mailId)}>{data?.filename ?? "a mail"}</Link>
    </span>
  );
}
