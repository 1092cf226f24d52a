/** An action on a document that a dialog asks about first. */
import type { PlatformDocument } from "../../features/documents/queries";

export type DocumentAction = { kind: "reclassify" | "replace" | "delete"; document: PlatformDocument };
