/** The keys of a drawing that has the focus, for the help. */

export const DRAWING_SHORTCUTS = [
  { keys: "+", label: "Zoom in" },
  { keys: "-", label: "Zoom out" },
  { keys: "0", label: "Fit the drawing into the window" },
  { keys: "← → ↑ ↓", label: "Move the drawing" },
  { keys: "/", label: "Find a tag" },
  { keys: "Esc", label: "Select nothing" },
];
