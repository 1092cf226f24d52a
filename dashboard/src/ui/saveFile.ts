/** Saves a file that the page has made. */

/** A download needs no permission of the policy: the link is followed by the browser, not loaded by the page. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
