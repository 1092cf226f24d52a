/** Starts the dashboard. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { isRetryable, retryDelay } from "./api/problem";
import { App } from "./app/App";
import { ignoreNetworkState, isWithoutSession } from "./app/session-end/pause";
import { applyStoredTheme } from "./app/theme";
import "./styles/base.css";

applyStoredTheme();
ignoreNetworkState();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < 2 && (isRetryable(error) || isWithoutSession(error)),
      retryDelay,
    },
    // A rejected change was not made: it is repeated once, after the person has signed in again.
    mutations: { retry: (count, error) => count < 1 && isWithoutSession(error) },
  },
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <BrowserRouter>
          <App />
        </BrowserRouter>
      </QueryClientProvider>
    </StrictMode>,
  );
}
