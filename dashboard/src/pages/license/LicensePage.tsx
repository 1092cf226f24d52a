/** The page "License": system id, state, limits, and the installation of a license. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { licenseQuery } from "../../features/operation/queries";
import { Badge, type Tone } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { TextField } from "../../ui/fields";
import { formatCount } from "../../ui/format";
import { Page } from "../../ui/Page";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { QueryState } from "../../ui/QueryState";
import { Time } from "../../ui/Time";
import { showSuccess } from "../../ui/toast";

type License = Schemas["License"];

const STATES: Record<License["status"], { tone: Tone; text: string }> = {
  missing: { tone: "neutral", text: "No license is installed." },
  valid: { tone: "success", text: "The license is valid." },
  expiring: { tone: "warning", text: "The license expires soon." },
  grace: { tone: "warning", text: "The license has expired; the grace period is running." },
  expired: { tone: "danger", text: "The license has expired." },
  invalid: { tone: "danger", text: "The license is invalid." },
  wrong_system: { tone: "danger", text: "The license is for another installation." },
};

const MODES: Record<License["mode"], string> = {
  off: "Licenses are not checked.",
  report: "Licenses are checked and reported; nothing is refused.",
  enforce: "Without a valid license, creation, uploads and questions are refused.",
};

export default function LicensePage() {
  const license = useQuery(licenseQuery);
  return (
    <Page title="License" description="The license of the document platform.">
      <QueryState query={license} label="License" />
      {license.data && <LicenseState license={license.data} />}
      <LicenseForm />
    </Page>
  );
}

function LicenseState({ license }: { license: License }) {
  const state = STATES[license.status];
  return (
    <section className="card stack" aria-label="State">
      <div className="row">
        <Badge tone={state.tone}>{license.status.replace("_", " ")}</Badge>
        <span>{license.reason ?? state.text}</span>
      </div>
      <p className="muted">{MODES[license.mode]}</p>
      <div className="row">
        <span>System ID</span>
        <code>{license.system_id}</code>
        <CopyButton text={license.system_id} label="Copy the system ID" />
      </div>
      {license.plan && (
        <p>
          Plan {license.plan}
          {license.organization && ` for ${license.organization}`}
          {license.expires_at && (
            <>
              , until <Time at={license.expires_at} />
            </>
          )}
        </p>
      )}
      {license.clock_set_back && <p>The clock was set back: the expiry cannot be checked.</p>}
      {license.usage && (
        <p className="muted">
          In use: {formatCount(license.usage.pipelines, "pipeline")},{" "}
          {formatCount(license.usage.documents, "document")},{" "}
          {formatCount(license.usage.questions_today, "question")} today.
          {license.limits_reached.length > 0 && ` Reached: ${license.limits_reached.join(", ")}.`}
        </p>
      )}
    </section>
  );
}

function LicenseForm() {
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const install = useMutation({
    mutationFn: () => data(api.PUT("/api/license", { body: { license: text.trim() } })),
    onSuccess: (license) => {
      queries.setQueryData(licenseQuery.queryKey, license);
      setText("");
      showSuccess("The license is installed.");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    install.mutate();
  };
  return (
    <form className="card stack" onSubmit={submit}>
      <h2>Install a license</h2>
      <TextField
        label="License"
        description="Send the system ID to the issuer, and paste the license that you get: it begins with PIDQ1."
        rows={4}
        value={text}
        onChange={setText}
        isRequired
      />
      {install.isError && <ProblemMessage error={install.error} />}
      <div>
        <Button kind="primary" type="submit" isDisabled={install.isPending}>
          Install
        </Button>
      </div>
    </form>
  );
}
