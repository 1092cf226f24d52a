import { expect, test } from "vitest";
import type { PlatformDocument } from "../../features/documents/queries";
import { followed, hasFailed, summary } from "./uploadState";
import type { Upload } from "./useUploads";

const document = (status: PlatformDocument["status"], fields: Partial<PlatformDocument> = {}) =>
  ({ id: "a", status, terminal: status === "ready" || status === "failed", ...fields }) as PlatformDocument;

const upload = (step: Upload["step"], uploaded: PlatformDocument | null = null): Upload => ({
  id: 1,
  name: "a.pdf",
  size: 10,
  sent: 10,
  step,
  rejection: null,
  document: uploaded,
  sentAt: 1_000,
});

test("an upload has the state of its document as it was listed last", () => {
  const sent = upload("sent", document("queued"));
  expect(followed(sent, undefined).state).toBe("processing");
  const failed = followed(sent, { requestedAt: 2_000, documents: [document("failed")] });
  expect(failed.state).toBe("failed");
  expect(hasFailed(failed)).toBe(true);
  expect(followed(sent, { requestedAt: 2_000, documents: [document("ready")] }).state).toBe("ready");
});

test("a document that a later list lacks is deleted, and one that an older list lacks is not", () => {
  const sent = upload("sent", document("queued"));
  expect(followed(sent, { requestedAt: 2_000, documents: [] }).state).toBe("deleted");
  expect(followed(sent, { requestedAt: 500, documents: [] }).state).toBe("processing");
});

test("a duplicate of a document that failed is a failure", () => {
  expect(hasFailed(followed(upload("sent", document("failed", { duplicate: true })), undefined))).toBe(true);
  expect(hasFailed(followed(upload("sent", document("ready", { duplicate: true })), undefined))).toBe(false);
});

test("the summary names the file in its first part only", () => {
  const states = [
    upload("sending"),
    upload("sent", document("queued")),
    upload("sent", document("ready")),
    upload("rejected"),
  ];
  expect(summary(states.map((row) => followed(row, undefined)))).toBe(
    "1 file being uploaded, 1 being processed, 1 ready, 1 failed",
  );
});
