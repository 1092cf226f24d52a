/** The running program: version, documentation, and the licenses of the packages that the dashboard is built from. */
import { useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { versionQuery } from "../../features/operation/queries";
import { ButtonLink } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Dialog } from "../../ui/Dialog";
import { QueryState } from "../../ui/QueryState";
import { licensesQuery, type PackageLicense } from "./licenses";
import { versionRows } from "./versionRows";
import "./about.css";

export function AboutDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="About pidq" isOpen={isOpen} onClose={onClose}>
      <Version />
      <div className="row">
        <ButtonLink href="/docs" target="_blank" rel="noopener">
          Documentation <ExternalLink size={14} aria-hidden />
          <span className="visually-hidden">opens in a new tab</span>
        </ButtonLink>
        <ButtonLink href="/reference" onPress={onClose}>
          API
        </ButtonLink>
        <ButtonLink href="/license" onPress={onClose}>
          License
        </ButtonLink>
      </div>
      <Licenses />
    </Dialog>
  );
}

function Version() {
  const version = useQuery(versionQuery);
  if (!version.data) return <QueryState query={version} label="Version" />;
  const rows = versionRows(version.data);
  return (
    <div className="row about-version">
      <dl className="facts grow">
        {rows.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <CopyButton
        text={rows.map(({ label, value }) => `${label}: ${value}`).join("\n")}
        label="Copy the version"
      />
    </div>
  );
}

function Licenses() {
  const licenses = useQuery(licensesQuery);
  return (
    <section className="stack" aria-labelledby="about-licenses">
      <h3 id="about-licenses">Open-source packages of the dashboard</h3>
      <QueryState query={licenses} label="Licenses" />
      {licenses.data && (
        <ul className="about-licenses">
          {licenses.data.map((row) => (
            <li key={`${row.name} ${row.version}`}>
              <License row={row} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function License({ row }: { row: PackageLicense }) {
  const head = (
    <>
      <span className="grow">
        {row.name} <span className="muted">{row.version}</span>
      </span>
      <span className="muted">{row.license}</span>
    </>
  );
  if (row.text === null) return <div className="about-license">{head}</div>;
  return (
    <details>
      <summary className="about-license">{head}</summary>
      <pre className="report">{row.text}</pre>
    </details>
  );
}
