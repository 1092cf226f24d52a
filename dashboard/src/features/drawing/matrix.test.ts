/** Tests of `matrix.ts`. */
import { expect, it } from "vitest";
import { IDENTITY, multiply, parseTransform, scaleOf, transformBox } from "./matrix";

const at = ([a, b, c, d, e, f]: ReturnType<typeof parseTransform>, x: number, y: number) => [
  a * x + c * y + e,
  b * x + d * y + f,
];

it("applies the steps of a transform from right to left", () => {
  const [x, y] = at(parseTransform("translate(40.0 320.0) rotate(90) scale(2)"), 5, 0);
  expect(x).toBeCloseTo(40);
  expect(y).toBeCloseTo(330);
});

it("rotates about a point", () => {
  const [x, y] = at(parseTransform("rotate(180, 10, 10)"), 0, 10);
  expect(x).toBeCloseTo(20);
  expect(y).toBeCloseTo(10);
});

it("takes what is no transform for none", () => {
  for (const text of ["", "constructor(1)", "translate(x)", "scale(1", "url(#a)"]) {
    expect(parseTransform(text)).toEqual(IDENTITY);
  }
});

it("knows the scale of combined transforms", () => {
  expect(scaleOf(multiply(parseTransform("scale(2 -2)"), parseTransform("rotate(30) scale(3)")))).toBeCloseTo(
    6,
  );
});

it("encloses a turned box", () => {
  const { x, y, width, height } = transformBox(parseTransform("rotate(90)"), {
    x: 0,
    y: 0,
    width: 4,
    height: 2,
  });
  expect([x, y, width, height].map((value) => Math.round(value) + 0)).toEqual([-2, 0, 2, 4]);
});
