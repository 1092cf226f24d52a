/** The dashboard: the sign-in page, or the pages inside the shell. */
import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect } from "react";
import { RouterProvider } from "react-aria-components";
import { Navigate, Route, Routes, useHref, useNavigate } from "react-router";
import { setSignedOutHandler } from "../api/client";
import { SignInPage } from "../pages/sign-in/SignInPage";
import { ErrorBoundary } from "../ui/ErrorBoundary";
import { Loading } from "../ui/Loading";
import { QueryState } from "../ui/QueryState";
import { Toasts } from "../ui/toast";
import { PAGES, START_PATH } from "./pages";
import { Shell } from "./Shell";
import { useSession } from "./session";

export function App() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const session = useSession();
  useEffect(() => setSignedOutHandler(() => queries.invalidateQueries({ queryKey: ["session"] })), [queries]);
  return (
    <RouterProvider navigate={navigate} useHref={useHref}>
      <QueryState query={session} label="Loading" />
      {session.data && (session.data.signed_in ? <Pages /> : <SignInPage methods={session.data.methods} />)}
      <Toasts />
    </RouterProvider>
  );
}

function Pages() {
  return (
    <Shell>
      <Routes>
        <Route path="/" element={<Navigate to={START_PATH} replace />} />
        {PAGES.map((page) => (
          <Route
            key={page.path}
            path={`${page.path}/*`}
            element={
              <ErrorBoundary>
                <Suspense fallback={<Loading label={page.label} />}>
                  <page.component />
                </Suspense>
              </ErrorBoundary>
            }
          />
        ))}
        <Route path="*" element={<NotFound />} />
      </Routes>
    </Shell>
  );
}

function NotFound() {
  return (
    <div className="page-message">
      <h1>There is no such page</h1>
      <p className="muted">The address may be mistyped, or the page has moved.</p>
    </div>
  );
}
