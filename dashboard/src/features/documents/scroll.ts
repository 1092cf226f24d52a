/** Scrolling of one element only: `scrollIntoView` moves everything around it as well. */

/** Scrolls the frame so that a descendant is at its start, or in its middle. */
export function scrollWithin(
  frame: Element | null,
  target: Element | null | undefined,
  to: "start" | "center",
): void {
  if (!frame || !target) return;
  const outer = frame.getBoundingClientRect();
  const inner = target.getBoundingClientRect();
  const rest = to === "start" ? 0 : Math.max(0, (outer.height - inner.height) / 2);
  frame.scrollTop += inner.top - outer.top - rest;
}
