/** Tests of `drawingFiles.ts`. */
import { expect, it } from "vitest";
import { fileSet, singleFile, statedId } from "./drawingFiles";
import { FILE_SETS } from "./formats";

it("stores a revision under the id that it states, whatever the file is called", async () => {
  const json = '{"pid_graph": {"metadata": {"job_id": "plant-100"}, "nodes": [], "edges": []}}';
  expect((await singleFile(new File([json], "plant rev B.json"))).graphId).toBe("plant-100");
  expect((await singleFile(new File(["<PlantModel/>"], "plant rev B.xml"))).graphId).toBe("plant-rev-B");
  expect((await singleFile(new File(["<PlantModel/>"], "plant rev B.xml"), "plant-100")).graphId).toBe(
    "plant-100",
  );
  expect(statedId("{")).toBeNull();
  expect(statedId("null")).toBeNull();
});

it("refuses a file that the service does not read", async () => {
  await expect(singleFile(new File([""], "sheet.dwg"))).rejects.toThrow("sheet.dwg cannot be read");
});

it("sends the parts of a set by the names that the service expects", () => {
  const set = FILE_SETS.find((row) => row.id === "csv");
  if (!set) throw new Error("There is no set of CSV files");
  const files = new Map([
    ["nodes.csv", new File(["id"], "unit 100 items.csv")],
    ["edges.csv", new File(["id,source"], "unit 100 pipes.csv")],
  ]);
  const { body, size } = fileSet(set, files, "unit-100");
  expect([...(body as FormData).keys()]).toEqual(["nodes.csv", "edges.csv"]);
  expect(size).toBe(11);
});
