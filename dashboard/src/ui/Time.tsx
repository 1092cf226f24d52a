/** A time, with the full time in its title. */
import { formatFullTime, formatTime } from "./format";

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatFullTime(at)}>
      {formatTime(at)}
    </time>
  );
}
