/** The page for addresses that lead nowhere. */
import { useEffect } from "react";
import { ButtonLink } from "./Button";
import "./ui.css";

export function NotFound() {
  useEffect(() => {
    document.title = "Not found · pidq";
  }, []);
  return (
    <div className="page-message stack">
      <h1>There is no such page</h1>
      <p className="muted">The address may be mistyped, or what it showed may have been deleted.</p>
      <p>
        <ButtonLink href="/">Go to the start page</ButtonLink>
      </p>
    </div>
  );
}
