/** Tests of `shortcuts.ts`. */
import { expect, it } from "vitest";
import { shortcutOf, shortcuts } from "./shortcuts";

const press = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });

it("has one action per key", () => {
  const keys = shortcuts.map((row) => row.key);
  expect(new Set(keys).size).toBe(keys.length);
});

it("leaves the keys of the browser and of fields alone", () => {
  expect(shortcutOf(press("0"), false, false)).toBe("fit");
  expect(shortcutOf(press("0", { ctrlKey: true }), true, false)).toBeNull();
  expect(shortcutOf(press("n"), false, true)).toBeNull();
});

it("moves the drawing only while it has the focus", () => {
  expect(shortcutOf(press("ArrowLeft"), true, false)).toBe("left");
  expect(shortcutOf(press("ArrowLeft"), false, false)).toBeNull();
});
