/** Moves the position and the focus when the page changes, as browsers do between documents. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { useLocation, useNavigationType } from "react-router";

/** Time to wait for a page that loads, in milliseconds. */
const PATIENCE = 3_000;

/** Positions by entry of the browser's history; they last as long as the document, as the entries' keys do. */
const positions = new Map<string, number>();

export function usePageChange(contentRef: RefObject<HTMLElement | null>): void {
  useScrollPosition(contentRef);
  useHeadingFocus(contentRef);
}

/** Starts a new page at its top, and returns to where the person was when they go back. */
function useScrollPosition(contentRef: RefObject<HTMLElement | null>): void {
  const { key, pathname } = useLocation();
  const isBack = useNavigationType() === "POP";
  const shown = useRef(pathname);
  // Before the browser reports the position of the shorter page as one of the old page.
  useLayoutEffect(() => {
    const content = contentRef.current;
    if (!content) return;
    const remember = () => positions.set(key, content.scrollTop);
    const isNew = shown.current !== pathname;
    shown.current = pathname;
    const wanted = isBack ? (positions.get(key) ?? 0) : 0;
    const stop = isNew ? untilTrue(content, () => scrollTo(content, wanted)) : () => undefined;
    content.addEventListener("scroll", remember, { passive: true });
    return () => {
      stop();
      content.removeEventListener("scroll", remember);
    };
  }, [key, pathname, isBack, contentRef]);
}

function scrollTo(content: HTMLElement, top: number): boolean {
  content.scrollTop = top;
  return Math.abs(content.scrollTop - top) <= 1;
}

/** Moves the focus to the heading of a new page, so that screen readers read it and the keyboard continues there. */
function useHeadingFocus(contentRef: RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  useEffect(() => {
    const content = contentRef.current;
    if (!content || shown.current === pathname) return;
    shown.current = pathname;
    return untilTrue(content, () => focusHeading(content));
  }, [pathname, contentRef]);
}

/** Returns whether the focus is where it should be: on the heading, or on what the person or the page chose. */
function focusHeading(content: HTMLElement): boolean {
  const focused = document.activeElement;
  if (focused && focused !== content && content.contains(focused)) return true;
  if (focused?.closest("[role=dialog], [role=alertdialog]")) return false;
  const heading = content.querySelector("h1");
  if (!heading) return false;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  return document.activeElement === heading;
}

/** Tries again whenever the content changes, for some time. Returns how to stop. */
function untilTrue(content: HTMLElement, attempt: () => boolean): () => void {
  if (attempt()) return () => undefined;
  const stop = () => {
    observer.disconnect();
    window.clearTimeout(timer);
    for (const event of STOPPING) content.removeEventListener(event, stop);
  };
  const observer = new MutationObserver(() => attempt() && stop());
  const timer = window.setTimeout(stop, PATIENCE);
  observer.observe(content, { childList: true, subtree: true });
  // The person goes on by themselves.
  for (const event of STOPPING) content.addEventListener(event, stop, { passive: true });
  return stop;
}

const STOPPING = ["wheel", "touchstart", "pointerdown", "keydown"] as const;
