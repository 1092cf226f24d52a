/** A time in the locale of the person, with the exact time as its title. */
export function Time({ at }: { at: string }) {
  const text = new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  );
}
