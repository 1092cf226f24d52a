/** Frame of a page: title, actions, content. */
import { type ReactNode, useEffect } from "react";
import "./ui.css";

interface PageProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** `full`: the content fills the window and scrolls by itself. */
  layout?: "text" | "full";
  children: ReactNode;
}

export function Page({ title, description, actions, layout = "text", children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · pidq`;
  }, [title]);
  return (
    <div className="page" data-layout={layout}>
      <div className="page-head">
        <div>
          <h1>{title}</h1>
          {description && <p className="muted">{description}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
      <div className="page-body">{children}</div>
    </div>
  );
}
