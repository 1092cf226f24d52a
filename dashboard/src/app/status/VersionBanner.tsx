/** The banner over all pages while the service has another version than this page. */
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { versionQuery } from "../../features/operation/queries";
import { Button } from "../../ui/Button";
import { PAGE_VERSION, type VersionDifference, versionDifference } from "./versions";

/** Interval of the check in milliseconds: an open tab outlives upgrades. */
const INTERVAL = 300_000;

const ADVICE: Record<VersionDifference, string> = {
  "service-is-older": "Parts of it do not work until the service is upgraded; reload it then.",
  "page-is-older": "Reload it.",
};

export function VersionBanner() {
  const service = useQuery({ ...versionQuery, refetchInterval: INTERVAL }).data?.version;
  const difference = versionDifference(service);
  if (difference === null) return null;
  return (
    <div className="connection-banner" role="status">
      <TriangleAlert size={16} aria-hidden />
      <span className="grow">
        This page is of version {PAGE_VERSION}, and the service of version {service}. {ADVICE[difference]}
      </span>
      <Button size="small" onPress={() => window.location.reload()}>
        Reload
      </Button>
    </div>
  );
}
