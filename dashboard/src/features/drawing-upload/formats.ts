/** Files of drawings that can be uploaded: the content type by the ending of the name. */

const CONTENT_TYPES: Record<string, string> = {
  json: "application/json",
  xml: "application/xml",
  graphml: "application/graphml+xml",
  sfiles: "text/x-sfiles",
};

/** Endings for the file dialog. */
export const FILE_ENDINGS = Object.keys(CONTENT_TYPES).map((ending) => `.${ending}`);

/** The content type of a file, or null if the service reads no such files. */
export function contentTypeOf(name: string): string | null {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  return ending === undefined ? null : (CONTENT_TYPES[ending] ?? null);
}

const FORMAT_NAMES: Record<string, string> = {
  json: "graph as JSON",
  proteus: "Proteus XML",
  dexpi: "DEXPI 2.0 XML",
  graphml: "GraphML",
  sfiles: "SFILES 2.0",
};

/** The name of a format as people write it. */
export function formatName(format: string): string {
  return FORMAT_NAMES[format] ?? format;
}
