/** Tests of `picture.ts`. */
import { expect, it } from "vitest";
import { combinedPicture, type Picture, parsePicture, placedPicture } from "./picture";

const SOURCE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 120 60" role="img">
<title>A &amp; B</title><style>.p{fill:none}</style>
<g id="lines"><path class="p" data-id="e1" d="M0 20L80 20"/></g>
<g class="pump" data-id="P-1" transform="translate(80 20)"><title>P-1</title>
  <g transform="scale(2)"><circle class="s" r="10"/><path class="n" d="M0 -10L10 0"/></g></g>
<text class="e" x="80" y="50" font-size="10" data-of="P-1">P-1 &lt;&#65;&#x42;&gt;</text>
</svg>`;

function read(text: string): Picture {
  const picture = parsePicture(text);
  if (picture === null) throw new Error("no picture");
  return picture;
}

it("reads items with their place and their outlines", () => {
  const picture = read(SOURCE);
  expect(picture.extent).toEqual({ x: -10, y: -10, width: 120, height: 60 });
  expect(picture.items.get("e1")).toMatchObject({ isLine: true, box: { x: 0, y: 20, width: 80, height: 0 } });
  const pump = picture.items.get("P-1");
  expect(pump?.isLine).toBe(false);
  expect(pump?.shapes).toHaveLength(2);
  expect(pump?.box.x).toBeLessThanOrEqual(60);
});

it("reads texts and nothing that is no text of the drawing", () => {
  const texts = read(SOURCE).shapes.flatMap((shape) => shape.text?.content ?? []);
  expect(texts).toEqual(["P-1 <AB>"]);
});

it("takes over the paint that a shape or its group states", () => {
  const picture = read(
    `<svg viewBox="0 0 9 9"><g stroke="#ff0000"><path d="M0 0L1 1" stroke-dasharray="4 2" stroke-width=".25"/></g></svg>`,
  );
  expect(picture.shapes[0]?.paint).toEqual({ stroke: "#ff0000", dash: [4, 2], width: 0.25 });
});

it("leaves out what can run or refer to something else", () => {
  const picture = read(`<svg viewBox="0 0 9 9"><script>alert(1)</script><image href="https://example.com/x"/>
    <foreignObject><p>no</p></foreignObject><use href="#a"/><constructor d="M0 0L1 1"/>
    <path d="M0 0L1 1" fill="url(https://example.com/x)" onclick="alert(1)"/></svg>`);
  expect(picture.shapes).toHaveLength(1);
  expect(picture.shapes[0]?.paint).toEqual({});
  expect(JSON.stringify(picture.shapes)).not.toMatch(/alert|example/);
});

it.each(["", "{}", "<html></html>", "<svg", "no <b>"])("is no picture: %s", (text) => {
  expect(parsePicture(text)).toBeNull();
});

it("places pictures beside each other under other ids", () => {
  const picture = read(SOURCE);
  const right = placedPicture(picture, [1, 0, 0, 1, 200, 0], (id) => `b#${id}`);
  const both = combinedPicture([picture, right]);
  expect(both.extent).toEqual({ x: -10, y: -10, width: 320, height: 60 });
  expect(both.items.get("e1")?.box.x).toBe(0);
  expect(both.items.get("b#e1")?.box.x).toBe(200);
  expect(both.shapes).toHaveLength(2 * picture.shapes.length);
  expect(both.items.get("b#e1")?.shapes[0]).toBe(right.shapes[0]);
});
