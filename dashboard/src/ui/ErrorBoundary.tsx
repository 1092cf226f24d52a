/** Shows an error of a page in its place, so that the other pages stay usable. */
import { Component, type ReactNode } from "react";
import { ProblemMessage } from "./ProblemMessage";

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return <ProblemMessage error={this.state.error} onRetry={() => this.setState({ error: null })} />;
  }
}
