/** Shown while data is loaded, after a moment so that it does not flash. */
export function Loading({ label }: { label: string }) {
  return (
    <div className="loading" role="status">
      <span className="loading-bar" aria-hidden />
      <span className="visually-hidden">{label} …</span>
    </div>
  );
}
