/** Shown in place of a list without rows: why it is empty, and the next step. */
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

export function Empty({
  icon: Icon,
  title,
  children,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon size={28} strokeWidth={1.5} aria-hidden />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
