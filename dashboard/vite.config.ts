/** Build of the dashboard into the crate that embeds it, and a development server in front of a running `pidq up`. */
import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { licenses } from "./licenses.ts";
import { pdfjsFiles } from "./pdfjsFiles.ts";
import { precompressed } from "./precompressed.ts";

const dashboard = process.env.PIDQ_DASHBOARD_URL ?? "http://127.0.0.1:3000";
const proxied = [
  "/session",
  "/api",
  "/graph",
  "/functions",
  "/version",
  "/readyz",
  "/docs",
  "/openapi.json",
  "/problems",
  "/account",
  "/accounts",
  "/clients",
];

/** The OpenAPI document of the service, whose version is the version of the product. */
const openapi = JSON.parse(readFileSync(new URL("openapi.json", import.meta.url), "utf8"));

export default defineConfig({
  define: { __API_VERSION__: JSON.stringify(openapi.info.version) },
  plugins: [react(), pdfjsFiles(), licenses(), precompressed()],
  build: {
    outDir: "../pidq-dashboard/dist",
    emptyOutDir: true,
    // `style-src 'self'` allows style sheets only as files.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
  },
  server: {
    proxy: Object.fromEntries(proxied.map((path) => [path, { target: dashboard, changeOrigin: true }])),
  },
});
