/** Shows an error of a page in its place, so that the other pages stay usable. */
import { Component, type ReactNode } from "react";
import { PageFailure } from "./PageFailure";

interface ErrorBoundaryProps {
  /** Address of what is shown: another one gets a new attempt. */
  address: string;
  children: ReactNode;
}

interface ErrorBoundaryState {
  failure: { error: unknown; address: string } | null;
}

export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { failure: null };

  static getDerivedStateFromError(error: unknown) {
    return { failure: { error, address: window.location.pathname } };
  }

  static getDerivedStateFromProps({ address }: ErrorBoundaryProps, { failure }: ErrorBoundaryState) {
    return failure && failure.address !== address ? { failure: null } : null;
  }

  override render() {
    const { failure } = this.state;
    return failure ? <PageFailure error={failure.error} /> : this.props.children;
  }
}
