/** A bar that shows how much of something is done. */
export function ProgressBar({ label, value, max }: { label: string; value: number; max: number }) {
  return <progress className="progress" aria-label={label} value={value} max={Math.max(max, 1)} />;
}
