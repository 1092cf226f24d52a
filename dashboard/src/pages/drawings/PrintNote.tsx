/** Line on a printed page: the drawing, the time and the person. */
import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { useSession } from "../../features/session/session";
import { formatFullTime } from "../../ui/format";

export function PrintNote({ graphId }: { graphId: string }) {
  const session = useSession().data;
  const [time, setTime] = useState(() => new Date());
  useEffect(() => {
    // The browser prints when the listener returns.
    const onPrint = () => flushSync(() => setTime(new Date()));
    window.addEventListener("beforeprint", onPrint);
    return () => window.removeEventListener("beforeprint", onPrint);
  }, []);
  const login = session?.signed_in ? session.login : null;
  return (
    <p className="print-note">
      Drawing {graphId}, printed {formatFullTime(time.toISOString())}
      {login !== null && ` by ${login}`}
    </p>
  );
}
