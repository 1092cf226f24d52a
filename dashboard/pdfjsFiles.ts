/** The files that PDF.js loads by name at run time: character maps, standard fonts and a decoder. */
import { createReadStream, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const SOURCE = "node_modules/pdfjs-dist";
const PREFIX = "/pdfjs/";

/** The policy of the dashboard allows no WebAssembly: of the decoders, only the one in JavaScript can run. */
const isNeeded = (file: string) => /\.(bcmap|pfb|ttf)$/.test(file) || file === "openjpeg_nowasm_fallback.js";

export function pdfjsFiles(): Plugin {
  return {
    name: "pdfjs-files",
    configureServer(server) {
      server.middlewares.use(PREFIX, (request, response, next) => {
        const file = join(SOURCE, join("/", request.url ?? ""));
        if (statSync(file, { throwIfNoEntry: false })?.isFile()) createReadStream(file).pipe(response);
        else next();
      });
    },
    generateBundle() {
      for (const folder of ["cmaps", "standard_fonts", "wasm"]) {
        for (const file of readdirSync(join(SOURCE, folder)).filter(isNeeded)) {
          const source = readFileSync(join(SOURCE, folder, file));
          this.emitFile({ type: "asset", fileName: `${PREFIX.slice(1)}${folder}/${file}`, source });
        }
      }
    },
  };
}
