/** The licenses of the packages that the dashboard is built from, as a file that it shows: `/licenses.json`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const FILE = "licenses.json";

export interface PackageLicense {
  name: string;
  version: string;
  license: string;
  text: string | null;
}

interface LockedPackage {
  version?: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
}

export function licenses(): Plugin {
  return {
    name: "licenses",
    configureServer(server) {
      server.middlewares.use(`/${FILE}`, (_, response) => {
        response.setHeader("Content-Type", "application/json").end(licensesJson("."));
      });
    },
    generateBundle() {
      this.emitFile({ type: "asset", fileName: FILE, source: licensesJson(".") });
    },
  };
}

function licensesJson(folder: string): string {
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  return JSON.stringify(packageLicenses(lock.packages, (path) => licenseText(join(folder, path))));
}

/** The packages of a lock file that are no tools of development, by name. Optional ones are for Node.js only. */
export function packageLicenses(
  packages: Record<string, LockedPackage>,
  textOf: (path: string) => string | null,
): PackageLicense[] {
  return Object.entries(packages)
    .filter(([path, { dev, devOptional, optional }]) => path !== "" && !dev && !devOptional && !optional)
    .map(([path, { version = "", license = "unknown" }]) => ({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      license,
      text: textOf(path),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The text of the license and of the notice in the folder of a package. */
function licenseText(folder: string): string | null {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)(\.|-|$)/i.test(file));
  if (files.length === 0) return null;
  return files
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim())
    .join("\n\n");
}
