/** A short word on a colored ground: a state, a severity, a count. */
import type { ReactNode } from "react";

export type Tone = "neutral" | "accent" | "close" | "success" | "warning" | "danger";

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}
