/** Opens PDF files with PDF.js, which is loaded only when a PDF is shown. */
import type { PDFDocumentLoadingTask, PDFDocumentProxy, PDFWorker } from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";

type PdfModule = typeof import("pdfjs-dist");

export interface OpenedPdf {
  pdfjs: PdfModule;
  document: PDFDocumentProxy;
}

/** The place of the files that PDF.js loads by name, see vite.config.ts. */
const ASSETS = "/pdfjs/";

/** One worker serves all documents. */
let shared: Promise<{ pdfjs: PdfModule; worker: PDFWorker }> | undefined;

/** The document that was opened last: only one is kept in memory. */
let current: PDFDocumentLoadingTask | undefined;

export async function openPdf(url: string): Promise<OpenedPdf> {
  shared ??= loadPdfjs();
  const { pdfjs, worker } = await shared;
  await current?.destroy();
  current = pdfjs.getDocument({
    url,
    worker,
    isEvalSupported: false,
    useWasm: false,
    cMapUrl: `${ASSETS}cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${ASSETS}standard_fonts/`,
    wasmUrl: `${ASSETS}wasm/`,
    enableXfa: false,
  });
  return { pdfjs, document: await current.promise };
}

async function loadPdfjs() {
  try {
    const pdfjs = await import("pdfjs-dist");
    return { pdfjs, worker: pdfjs.PDFWorker.create({ port: startWorker() }) };
  } catch (error) {
    shared = undefined;
    throw error;
  }
}

interface ScriptUrlPolicy {
  createScriptURL(url: string): string;
}

interface ScriptUrlPolicies {
  createPolicy(name: string, rules: ScriptUrlPolicy): ScriptUrlPolicy;
}

/** Under Trusted Types, the URL of a worker comes from a policy; this one knows a single file of the dashboard. */
function startWorker(): Worker {
  const policies = (window as { trustedTypes?: ScriptUrlPolicies }).trustedTypes;
  const policy = policies?.createPolicy("pidq-pdf-worker", { createScriptURL: () => workerUrl });
  return new Worker(policy?.createScriptURL("") ?? workerUrl, { type: "module" });
}
