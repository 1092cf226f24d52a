/** A time, short, with the full time in its title. */
import { formatFullTime, formatTime } from "./format";

export function Time({ value }: { value: string }) {
  return (
    <time dateTime={value} title={formatFullTime(value)}>
      {formatTime(value)}
    </time>
  );
}
