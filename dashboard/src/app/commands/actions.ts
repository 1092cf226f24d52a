/** The actions of the palette: those of the page in view, and those of the frame. */
import { ACTIONS } from "../../features/drawing/actions";
import { copyText } from "../../ui/CopyButton";
import { applyTheme, type Theme } from "../theme";
import type { Command, CommandContext } from "./command";

export function actionsOf(context: CommandContext): Command[] {
  return [...ofPage(context), ...ofDrawing(context), ...ofFrame(context)];
}

function ofPage({ pageCommands }: CommandContext): Command[] {
  return pageCommands.map(({ label, run }) => ({ id: `page ${label}`, label, run }));
}

/** The actions on the selected item of a drawing, whose address has them. */
function ofDrawing({ pathname, search }: CommandContext): Command[] {
  const graph = /^\/drawings\/([^/]+)$/.exec(pathname)?.[1];
  if (graph === undefined) return [];
  const query: Command = {
    id: "query-drawing",
    label: "Query this drawing",
    run: (frame) => frame.navigate(`/query?graph=${graph}`),
  };
  const parameters = new URLSearchParams(search);
  if (!parameters.get("node")) return [query];
  const actions = ACTIONS.map(({ id, label, hint }): Command => {
    const chosen = new URLSearchParams(parameters);
    chosen.set("view", id);
    chosen.delete("to");
    return {
      id: `drawing ${id}`,
      label,
      detail: hint,
      run: (frame) => frame.navigate(`${pathname}?${chosen}`),
    };
  });
  return [...actions, query];
}

const THEMES: { theme: Theme; label: string }[] = [
  { theme: "light", label: "Use the light theme" },
  { theme: "dark", label: "Use the dark theme" },
  { theme: "system", label: "Use the theme of the system" },
];

function ofFrame({ canSignOut }: CommandContext): Command[] {
  return [
    { id: "copy-link", label: "Copy the link to this page", run: () => copyText(window.location.href) },
    {
      id: "shortcuts",
      label: "Show the keyboard shortcuts",
      keys: "?",
      run: (frame) => frame.open("shortcuts"),
    },
    { id: "about", label: "About pidq", run: (frame) => frame.open("about") },
    ...THEMES.map(({ theme, label }) => ({ id: `theme ${theme}`, label, run: () => applyTheme(theme) })),
    ...(canSignOut
      ? [
          {
            id: "password",
            label: "Change your password",
            run: (frame) => frame.open("password"),
          } satisfies Command,
          { id: "sign-out", label: "Sign out", run: (frame) => frame.signOut?.() } satisfies Command,
        ]
      : []),
  ];
}
