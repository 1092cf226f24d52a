/** The dashboard: the sign-in page, or the pages inside the shell. */
import { Suspense, useEffect } from "react";
import { RouterProvider } from "react-aria-components";
import { Navigate, type RouteObject, useHref, useLocation, useNavigate, useRoutes } from "react-router";
import { useIsAdministrator } from "../features/session/ownAccount";
import { type SignedIn, type SignInMethods, useSession } from "../features/session/session";
import { SignInPage } from "../pages/sign-in/SignInPage";
import { SIGN_IN_PATH, withoutError } from "../pages/sign-in/signInErrors";
import { Empty } from "../ui/Empty";
import { Loading } from "../ui/Loading";
import { NotFound } from "../ui/NotFound";
import { Page } from "../ui/Page";
import { QueryState } from "../ui/QueryState";
import { Toasts } from "../ui/toast";
import { ErrorBoundary } from "./page-failure/ErrorBoundary";
import { hasAddress, PAGES, type PageRow, START_PATH } from "./pages";
import { Shell } from "./Shell";
import { SessionEndDialog } from "./session-end/SessionEndDialog";
import { useLastSession } from "./session-end/useLastSession";

export function App() {
  const navigate = useNavigate();
  const session = useSession();
  const last = useLastSession(session.data);
  return (
    <RouterProvider navigate={navigate} useHref={useHref}>
      {!session.data && <QueryState query={session} label="Loading" />}
      {last && <Pages />}
      {session.data && !session.data.signed_in && <SignIn last={last} methods={session.data.methods} />}
      <Toasts />
    </RouterProvider>
  );
}

/** The sign-in page, or, over the pages, the dialog of a session that ended. */
function SignIn({ last, methods }: { last: SignedIn | null; methods: SignInMethods }) {
  return last ? <SessionEndDialog session={last} /> : <SignInPage methods={methods} />;
}

function Pages() {
  return (
    <Shell>
      <PageOfAddress />
    </Shell>
  );
}

const ROUTES: RouteObject[] = [
  { path: "/", element: <Navigate to={START_PATH} replace /> },
  { path: SIGN_IN_PATH, element: <AfterSignIn /> },
  ...PAGES.map((page) => ({ path: `${page.path}/*`, element: <ShownPage key={page.path} page={page} /> })),
];

/** Not a route for all other addresses: `*` does not match one with a line break. */
function PageOfAddress() {
  return useRoutes(ROUTES) ?? <NotFound />;
}

/** The page at which a sign-in began that has failed at first. */
function AfterSignIn() {
  const { pathname, search } = useLocation();
  return <Navigate to={withoutError(pathname, search)} replace />;
}

function ShownPage({ page }: { page: PageRow }) {
  const { pathname } = useLocation();
  const isAdministrator = useIsAdministrator();
  if (!hasAddress(page, pathname)) return <NotFound />;
  if (page.isForAdministrators && !isAdministrator) return <ForAdministrators page={page} />;
  return (
    <ErrorBoundary address={pathname}>
      <PageTitle label={page.label} />
      <Suspense fallback={<Loading label={page.label} />}>
        <page.component />
      </Suspense>
    </ErrorBoundary>
  );
}

/** Shown in place of a page that the person has no rights for. */
function ForAdministrators({ page }: { page: PageRow }) {
  return (
    <Page title={page.label}>
      <Empty icon={page.icon} title="For administrators">
        <p>Your account can see and change nothing here. An administrator of your plant can.</p>
      </Empty>
    </Page>
  );
}

/** The title until the page has set its own: it comes before the page, whose effects run later. */
function PageTitle({ label }: { label: string }) {
  useEffect(() => {
    document.title = `${label} · pidq`;
  }, [label]);
  return null;
}
