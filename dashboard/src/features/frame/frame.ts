/** The frame of the pages, as shortcuts and commands use it. */
import { createContext, useContext } from "react";

export type FrameDialog = "commands" | "shortcuts" | "about" | "password";

export interface Frame {
  dialog: FrameDialog | null;
  open: (dialog: FrameDialog | null) => void;
  navigate: (path: string) => void;
  toggleSidebar: () => void;
  /** Moves the focus to the field that searches the page. Returns whether there is one. */
  focusSearch: () => boolean;
  signOut: (() => void) | null;
}

export const FrameContext = createContext<Frame | null>(null);

export function useFrame(): Frame {
  const frame = useContext(FrameContext);
  if (!frame) throw new Error("There is no frame around this component.");
  return frame;
}
