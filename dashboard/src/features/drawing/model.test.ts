/** Tests of `model.ts`. */
import { expect, it } from "vitest";
import { marksOf } from "./marks";
import { drawingGraph, itemIds, lineOf, namedItems, neighborsOf, searchItems } from "./model";
import { idOfFile } from "./queries";

const graph = drawingGraph({
  pid_graph: {
    nodes: [
      { id: "P-1", tag: "P-1", node_classification: "equipment.centrifugal_pump", service: "feed pump" },
      { id: "HV-1", tag: "HV-1" },
      { id: "AP-1", tag: "AP-1" },
      { id: "L", node_type: "pipe_system" },
    ],
    edges: [
      { id: "e1", source: "P-1", target: "HV-1", edge_type: "physically_connected_to" },
      { id: "e2", source: "L", target: "HV-1", edge_type: "has_a" },
    ],
  },
});

it("finds tags, those that start with the text first", () => {
  expect(searchItems(graph, "p-1").map((node) => node.id)).toEqual(["P-1", "AP-1"]);
  expect(searchItems(graph, " ")).toEqual([]);
});

it("finds items by their class and service", () => {
  expect(searchItems(graph, "Feed pump").map((node) => node.id)).toEqual(["P-1"]);
  expect(searchItems(graph, "centrifugal feed").map((node) => node.id)).toEqual(["P-1"]);
  expect(searchItems(graph, "feed valve")).toEqual([]);
});

it("finds the line and the neighbors of an item", () => {
  expect(lineOf(graph, "HV-1")).toBe("L");
  expect(lineOf(graph, "P-1")).toBeNull();
  expect(neighborsOf(graph, "HV-1").map(({ id, relation }) => `${relation} ${id}`)).toEqual([
    "from P-1",
    "member of L",
  ]);
});

it("collects the items of a result at any depth", () => {
  const result = [
    { nodes: [{ id: "P-1", node_type: "x" }], edges: [{ id: "e1", edge_type: "y" }], id: "no" },
  ];
  expect([...itemIds(result)]).toEqual(["P-1", "e1"]);
});

it("finds items that a list names by id or tag", () => {
  expect([...namedItems(graph, [{ id: "HV-1", role: "barrier" }, ["AP-1", "unknown", 7]])]).toEqual([
    "HV-1",
    "AP-1",
  ]);
});

it("marks the pipe between inside and open as open", () => {
  const marks = marksOf(graph, [
    ["inside", ["P-1"]],
    ["open", ["HV-1"]],
  ]);
  expect(marks.get("e1")).toBe("open");
});

it("names a graph after its file", () => {
  expect(idOfFile("Unit 100 (rev B).json")).toBe("Unit-100-rev-B");
  expect(idOfFile("§.json")).toBe("drawing");
});
