/** The continuation of an off-page connector, with links to the other sheet. */
import { Link } from "react-router";
import type { GraphNode } from "../../features/drawing/model";
import { ButtonLink } from "../../ui/Button";
import type { Partner } from "./usePartners";

/** The address of the other sheet, at its connector. */
export function partnerPath({ sheet, connector }: Partner): string {
  const node = connector === null ? "" : `?node=${encodeURIComponent(connector)}`;
  return `/drawings/${encodeURIComponent(sheet.job_id)}${node}`;
}

interface PartnerLinksProps {
  graphId: string;
  node: GraphNode;
  partner: Partner | null;
}

export function PartnerLinks({ graphId, node, partner }: PartnerLinksProps) {
  const name = node.cross_page?.drawing_name;
  if (!name) return null;
  if (partner === null) return <p>Continues on {name}, which is not stored here.</p>;
  const beside = `/drawings/${encodeURIComponent(graphId)}?with=${encodeURIComponent(partner.sheet.job_id)}`;
  return (
    <section className="card stack" aria-label="Other sheet">
      <p>
        Continues on <Link to={partnerPath(partner)}>{partner.sheet.drawing_name ?? name}</Link>
        {partner.connector !== null
          ? ` at ${partner.connector}.`
          : partner.isKnown && ", which has no connector that fits."}
      </p>
      <div className="row">
        <ButtonLink size="small" kind="primary" href={partnerPath(partner)}>
          Go to {partner.connector ?? "the sheet"}
        </ButtonLink>
        <ButtonLink size="small" href={beside}>
          Show beside
        </ButtonLink>
      </div>
    </section>
  );
}
