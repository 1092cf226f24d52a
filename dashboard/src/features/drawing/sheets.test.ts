/** Tests of `sheets.ts`. */
import { expect, it } from "vitest";
import { drawingGraph } from "./model";
import { type Picture, parsePicture } from "./picture";
import { type JoinedDocument, joinedSheets, partnerOf, prefixesOf } from "./sheets";

const LEFT = drawingGraph({ nodes: [{ id: "A" }, { id: "OPC-1" }], edges: [] });
const RIGHT = drawingGraph({ nodes: [{ id: "OPC-2" }], edges: [] });
const JOINED: JoinedDocument = {
  nodes: [{ id: "S1#A" }, { id: "S1#OPC-1" }, { id: "S2#OPC-2" }],
  edges: [],
  metadata: { joined: { pairs: [{ from: "S1#OPC-1", to: "S2#OPC-2" }] } },
};

const sheet = (id: string, x: number, y: number): Picture => {
  const picture = parsePicture(
    `<svg viewBox="0 0 400 200"><g data-id="${id}"><rect x="${x}" y="${y}" width="20" height="10"/></g></svg>`,
  );
  if (picture === null) throw new Error("no picture");
  return picture;
};

it("knows the prefix of each sheet", () => {
  expect(prefixesOf(JOINED, [LEFT, RIGHT])).toEqual(["S1#", "S2#"]);
});

it("puts a sheet on the side of its connector, with the connectors on one height", () => {
  for (const [x, isLeft] of [
    [380, false],
    [0, true],
  ] as const) {
    const { picture, connections } = joinedSheets(
      JOINED,
      [LEFT, RIGHT],
      [sheet("OPC-1", x, 100), sheet("OPC-2", isLeft ? 380 : 0, 30)],
    );
    const [own, other] = [picture.items.get("S1#OPC-1")?.box, picture.items.get("S2#OPC-2")?.box];
    expect(own?.y).toBe(other?.y);
    expect((other?.x ?? 0) < (own?.x ?? 0)).toBe(isLeft);
    expect(connections).toHaveLength(1);
    expect(picture.extent.width).toBe(400 + 160 + 400);
  }
});

it("knows both connectors of a pair", () => {
  const { pairs } = JOINED.metadata.joined;
  expect(partnerOf(pairs, "S1#OPC-1")).toBe("S2#OPC-2");
  expect(partnerOf(pairs, "S2#OPC-2")).toBe("S1#OPC-1");
  expect(partnerOf(pairs, "S1#A")).toBeNull();
});
