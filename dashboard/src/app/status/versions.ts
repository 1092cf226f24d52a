/** Whether the service and this page are of the same version: during an upgrade, or in an open tab, they may differ. */

/** The version of the API that this page was built for. */
export const PAGE_VERSION: string = __API_VERSION__;

export type VersionDifference = "service-is-older" | "page-is-older";

/** Compares the versions; null if they are the same, or if the service does not show a version. */
export function versionDifference(
  service: string | undefined,
  page: string = PAGE_VERSION,
): VersionDifference | null {
  if (service === undefined || service === page) return null;
  const [ofService, ofPage] = [numbersOf(service), numbersOf(page)];
  if (ofService.length < 3) return null;
  const index = ofPage.findIndex((number, index) => number !== ofService[index]);
  if (index === -1) return null;
  return Number(ofService[index]) < Number(ofPage[index]) ? "service-is-older" : "page-is-older";
}

/** Major, minor and patch version, without what a build adds. */
function numbersOf(version: string): number[] {
  return [...version.matchAll(/\d+/g)].slice(0, 3).map(([digits]) => Number(digits));
}
