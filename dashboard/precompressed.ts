/** Compressed copies of the built text files, which the server sends as they are: `NAME.br` and `NAME.gz`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(css|html|js|json|mjs|svg|txt|webmanifest)$/;

/** Smaller files fit in a packet anyway; the server does not compress them either. */
const MIN_SIZE = 1024;

const CODINGS: Record<string, (bytes: Buffer) => Buffer> = {
  ".br": (bytes) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  ".gz": (bytes) => gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

export function precompressed(): Plugin {
  let folder = "";
  return {
    name: "precompressed",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    // After all files are written, including those of the folder `public`.
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        if (TEXT.test(name)) compress(join(folder, name));
      }
    },
  };
}

/** Writes the copies that are smaller than the file. */
function compress(path: string): void {
  const bytes = readFileSync(path);
  if (bytes.length < MIN_SIZE) return;
  for (const [suffix, encode] of Object.entries(CODINGS)) {
    const encoded = encode(bytes);
    if (encoded.length < bytes.length) writeFileSync(path + suffix, encoded);
  }
}
