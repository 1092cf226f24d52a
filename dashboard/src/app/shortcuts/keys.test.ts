import { expect, test } from "vitest";
import { ariaKeys, keyCaps, notationOf, step } from "./keys";

const press = (key: string, held = "") => ({
  key,
  ctrlKey: held.includes("c"),
  metaKey: held.includes("m"),
  altKey: held.includes("a"),
});

test.each([
  ["k", "", false, "k"],
  ["?", "", false, "?"],
  ["K", "c", false, "Mod+k"],
  ["k", "c", true, null],
  ["k", "m", true, "Mod+k"],
  ["k", "m", false, null],
  ["k", "ca", false, null],
  ["@", "a", true, null],
  ["Enter", "", false, null],
  ["Shift", "", false, null],
  [" ", "", false, null],
])("%j with %j held is %j", (key, held, isMac, notation) => {
  expect(notationOf(press(key, held), isMac)).toBe(notation);
});

const ROWS = [{ keys: "Mod+k" }, { keys: "?" }, { keys: "g d" }, { keys: "g a" }];

test.each([
  [[], "?", "?", []],
  [[], "g", null, ["g"]],
  [["g"], "d", "g d", []],
  [["g"], "x", null, []],
  [["g"], "g", null, ["g"]],
  [["g"], "?", "?", []],
  [[], "d", null, []],
])("after %j, %j completes %j and leaves %j", (before, key, keys, typed) => {
  const found = step(ROWS, before, key);
  expect(found.row?.keys ?? null).toBe(keys);
  expect(found.typed).toEqual(typed);
});

test("keys are named as on the keyboard", () => {
  expect(keyCaps("Mod+k", true)).toEqual(["⌘", "K"]);
  expect(keyCaps("Mod+k", false)).toEqual(["Ctrl", "K"]);
  expect(keyCaps("g d", false)).toEqual(["g", "d"]);
  expect(ariaKeys("Mod+k", false)).toBe("Control+K");
});
