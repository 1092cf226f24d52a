/** Tests of `palette.ts`. */
import { expect, it } from "vitest";
import { inkOf, type Palette } from "./palette";

const palette = (isDark: boolean) => ({ colors: { surface: "paper" }, isDark }) as unknown as Palette;
const channels = (color: string) => (color.match(/\d+/g) ?? []).map(Number);

it("leaves stated colors alone on white paper", () => {
  expect(inkOf("#ff0000", palette(false))).toBe("#ff0000");
});

it("takes white for the paper", () => {
  expect(inkOf("#FFFFFF", palette(true))).toBe("paper");
});

it("turns black to white and keeps the hue on dark paper", () => {
  expect(Math.min(...channels(inkOf("#000000", palette(true))))).toBeGreaterThan(220);
  const [red = 0, green = 0, blue = 0] = channels(inkOf("#800000", palette(true)));
  expect(red).toBeGreaterThan(green);
  expect(green).toBe(blue);
});

it("leaves names of colors alone", () => {
  expect(inkOf("red", palette(true))).toBe("red");
});
