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

/** A format of several files. */
export interface FileSet {
  id: string;
  label: string;
  /** The files, by the names of the parts of the request. */
  parts: { part: string; label: string }[];
}

export const FILE_SETS: FileSet[] = [
  {
    id: "csv",
    label: "CSV",
    parts: [
      { part: "nodes.csv", label: "Nodes" },
      { part: "edges.csv", label: "Edges" },
    ],
  },
  {
    id: "neo4j",
    label: "CSV of Neo4j",
    parts: [
      { part: "nodes.csv", label: "Nodes" },
      { part: "rels.csv", label: "Relationships" },
    ],
  },
  {
    id: "ndjson",
    label: "NDJSON",
    parts: [
      { part: "nodes.ndjson", label: "Nodes" },
      { part: "edges.ndjson", label: "Edges" },
    ],
  },
  {
    id: "dexpi",
    label: "DEXPI 2.0 with a profile",
    parts: [
      { part: "drawing.xml", label: "Drawing" },
      { part: "profile.xml", label: "Profile" },
    ],
  },
];

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
