import { expect, test } from "vitest";
import { SHORTCUTS } from "./shortcuts";

test("no shortcut has the keys of another, or begins with them", () => {
  for (const one of SHORTCUTS) {
    const others = SHORTCUTS.filter((other) => other !== one);
    expect(others.filter(({ keys }) => keys === one.keys || keys.startsWith(`${one.keys} `))).toEqual([]);
  }
});
