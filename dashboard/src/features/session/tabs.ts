/** Messages between the tabs of one browser about their session. */

/** `ended`: a request was rejected. `signed-in`, `signed-out`: the person did so. */
export type SessionNews = "ended" | "signed-in" | "signed-out";

const NEWS: readonly unknown[] = ["ended", "signed-in", "signed-out"] satisfies SessionNews[];
/** One for the tab: a channel does not receive what it sends. */
const channel = new BroadcastChannel("pidq.session");

export function tellTabs(news: SessionNews): void {
  channel.postMessage(news);
}

/** Calls `onNews` for the news of other tabs, until the returned function is called. */
export function listenToTabs(onNews: (news: SessionNews) => void): () => void {
  const listen = ({ data }: MessageEvent<unknown>) => {
    if (NEWS.includes(data)) onNews(data as SessionNews);
  };
  channel.addEventListener("message", listen);
  return () => channel.removeEventListener("message", listen);
}
