/** The pages of the drawings: the list, a drawing, isolation, lists. */
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";

test("lists the drawings and opens one", async ({ page }) => {
  await page.goto("/drawings");
  await page.getByRole("link", { name: /100-PID-0001/ }).click();
  await expect(page.getByRole("heading", { level: 1, name: /100-PID-0001/ })).toBeVisible();
  await expect(page.getByRole("application", { name: /100-PID-0001/ })).toBeVisible();
});

test("finds a tag with the keyboard and keeps it on reload", async ({ page }) => {
  await page.goto("/drawings/plant-100");
  await page.getByRole("application").focus();
  await page.keyboard.press("/");
  await page.keyboard.type("V-101");
  await expect(page.getByRole("option").first()).toContainText("V-101");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 2, name: "V-101" })).toBeVisible();
  await expect(page).toHaveURL(/node=V-101/);
  await page.reload();
  await expect(page.getByRole("heading", { level: 2, name: "V-101" })).toBeVisible();
});

test("says what stays open when an item is isolated", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=V-101");
  await page.getByRole("button", { name: "Isolate" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await expect(result.getByRole("status")).toContainText("stays open");
  await expect(result.getByRole("region", { name: "Stays open" })).toContainText("E-102");
  await expect(result.getByRole("region", { name: "To close" })).toContainText("HV-1015");
  await expect(result).toContainText('isolate("V-101")');
});

test("finds an item by what it does, and says when there is none", async ({ page }) => {
  await page.goto("/drawings/plant-100");
  const field = page.getByRole("combobox", { name: "Find an item" });
  await field.fill("feed pump");
  await expect(page.getByRole("option").first()).toContainText("P-101A");
  await field.fill("submarine");
  await expect(page.getByText("No item has this tag, class or service.")).toBeVisible();
});

test("keeps an isolation while its items are looked at, and saves it as a list", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=V-101&view=isolate");
  const result = page.getByRole("region", { name: "Result", exact: true });
  await result
    .getByRole("region", { name: "Relief devices" })
    .getByRole("button", { name: "PSV-1106" })
    .click();
  const looked = page.getByRole("region", { name: "Item of the result" });
  await expect(looked).toContainText("set pressure");
  await expect(result).toContainText('isolate("V-101")');
  await page.reload();
  await expect(looked.getByRole("heading", { name: "PSV-1106" })).toBeVisible();
  const download = page.waitForEvent("download");
  await result.getByRole("button", { name: "Save as CSV" }).click();
  const saved = await readFile(await (await download).path(), "utf8");
  expect(saved).toContain("Stays open,E-102,shell and tube heat exchanger");
  expect(saved).toContain("To close,HV-1015,gate valve");
  await looked.getByRole("button", { name: "Isolate this" }).click();
  await expect(result).toContainText('isolate("PSV-1106")');
});

test("shows the items of a loop by what they do, all in view", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=LIC-1103&view=loop");
  const result = page.getByRole("region", { name: "Result" });
  await expect(result.getByRole("region", { name: "Final elements" })).toContainText(
    "LV-1103 control valve, fails closed",
  );
  await expect(result.getByRole("region", { name: "Sensors" })).toContainText("LT-1103");
});

test("finds a path to a second item", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=T-101");
  await page.getByRole("button", { name: "Path to …" }).click();
  await page.getByRole("combobox", { name: "Find an item" }).fill("V-101");
  await page.getByRole("option").first().click();
  await expect(page).toHaveURL(/to=V-101/);
  await expect(page.getByRole("region", { name: "Result" })).toContainText("HV-1002");
});

test("selects the item of a row of a list", async ({ page }) => {
  await page.goto("/drawings/plant-100?panel=valves");
  await page.getByRole("cell", { name: "HV-1001" }).click();
  await expect(page).toHaveURL(/node=HV-1001/);
});

test("a list is filtered by words in any order", async ({ page }) => {
  await page.goto("/drawings/plant-100?panel=valves");
  const list = page.getByRole("region", { name: "Valves" });
  const filter = page.getByRole("searchbox", { name: "Filter valves" });
  await filter.fill("fails open control");
  await expect(list.getByRole("row", { name: /FV-1102/ })).toBeVisible();
  await expect(list.getByRole("row", { name: /FV-1101|HV-/ })).toHaveCount(0);
  await filter.fill("FC control");
  await expect(list.getByRole("row", { name: /FV-1101/ })).toBeVisible();
  await filter.fill("submarine");
  await expect(list.getByRole("status")).toHaveText("No row contains “submarine”.");
});

test("asks the documents about the selected item", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=P-101A");
  await page.getByRole("link", { name: "Ask the documents" }).click();
  await expect(page.getByRole("region", { name: "Conversation" })).toContainText("P-101A?");
});

/** Mean brightness of the pixels of the canvas, and whether they differ: 0 is black, 1 is white. */
const inkOf = (page: Page) =>
  page.locator(".drawing-host canvas").evaluate((canvas: HTMLCanvasElement) => {
    const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
    let [sum, least, most] = [0, 255, 0];
    for (let at = 0; at < data.length; at += 4) {
      const green = data[at + 1] ?? 0;
      sum += green;
      least = Math.min(least, green);
      most = Math.max(most, green);
    }
    return { mean: sum / (data.length / 4) / 255, contrast: (most - least) / 255 };
  });

test("a dark drawing is printed on white, with its name and the time", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/drawings/plant-100?node=V-101&view=isolate");
  await page.locator("[role=application][data-painted=all]").waitFor();
  expect((await inkOf(page)).mean).toBeLessThan(0.4);
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await expect.poll(async () => (await inkOf(page)).mean).toBeGreaterThan(0.8);
  await expect(page.getByText(/^Drawing plant-100, printed .*20\d\d/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Isolate" })).toBeHidden();
});

test("a drawing is visible in the colors of a contrast theme", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
  await page.goto("/drawings/plant-100");
  await page.locator("[role=application][data-painted=all]").waitFor();
  expect((await inkOf(page)).contrast).toBeGreaterThan(0.6);
});

test("a chosen item takes the keys of the drawing", async ({ page }) => {
  await page.goto("/drawings/plant-100");
  await page.getByRole("application").press("/");
  await page.keyboard.type("P-101A");
  await expect(page.getByRole("option").first()).toContainText("P-101A");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("application")).toBeFocused();
  await page.keyboard.press("i");
  await expect(page.getByRole("region", { name: "Result" }).getByRole("status")).toContainText("Isolated.");
});

test("selects what is clicked on the drawing, and shows it beside the pointer", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=V-101");
  const drawing = page.locator("[role=application][data-painted=all]");
  const box = await drawing.boundingBox();
  if (box === null) throw new Error("The drawing is not shown");
  // The item of the address is in the middle.
  const middle = { x: box.width / 2, y: box.height / 2 };
  await drawing.press("Escape");
  await expect(page.getByText("Nothing is selected")).toBeVisible();
  await drawing.hover({ position: middle });
  await expect(page.locator(".drawing-hover")).toContainText("V-101");
  await drawing.click({ position: middle });
  await expect(page).toHaveURL(/node=V-101/);
});

test("moves and zooms with the mouse", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=V-101");
  const drawing = page.locator("[role=application][data-painted=all]");
  const box = await drawing.boundingBox();
  if (box === null) throw new Error("The drawing is not shown");
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x - 100, middle.y, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(middle.x - 100, middle.y + 1);
  await expect(page.locator(".drawing-hover")).toContainText("V-101");
  await expect(page).toHaveURL(/node=V-101/);
});

test("waits for the item of an action that is chosen first", async ({ page }) => {
  await page.goto("/drawings/plant-100");
  await page.getByRole("button", { name: "Upstream" }).click();
  await expect(page.getByText('Click the item for "Upstream"')).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type("HV-1018");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Result" })).toContainText('upstream("HV-1018")');
  await expect(page.getByRole("status", { name: "Marked items" })).toContainText("found");
});

test("goes on at the connector on the other sheet, and back", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=OPC-103");
  const other = page.getByRole("region", { name: "Other sheet" });
  await expect(other).toContainText("100-PID-0005 Condensate storage and loading at OPC-201");
  await page.keyboard.press("o");
  await expect(page).toHaveURL(/storage-100\?node=OPC-201/);
  await expect(page.getByRole("heading", { level: 2, name: "OPC-201" })).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(/plant-100\?node=OPC-103/);
  // The connector is in the middle of the drawing.
  const drawing = page.locator("[role=application][data-painted=all]");
  await drawing.click();
  await expect(page).toHaveURL(/storage-100\?node=OPC-201/);
});

test("says which sheet is missing", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=OPC-106");
  await expect(page.getByText("Continues on 900-PID-0003, which is not stored here.")).toBeVisible();
});

test("traces across joined sheets", async ({ page }) => {
  await page.goto("/drawings/plant-100");
  await page.getByRole("button", { name: "Join sheets" }).click();
  await expect(page.getByRole("heading", { level: 1, name: /100-PID-0001.*100-PID-0005/ })).toBeVisible();
  await page.getByRole("combobox", { name: "Find an item" }).fill("LV-1103");
  await page.getByRole("option").first().click();
  await page.getByRole("button", { name: "Downstream" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await expect(result).toContainText("OPC-103");
  await expect(result).toContainText("HV-2001");
  await page.getByRole("button", { name: "This sheet only" }).click();
  await expect(page).not.toHaveURL(/with=/);
});

test("shows what changed and what was removed between two revisions", async ({ page }) => {
  await page.goto("/drawings");
  await page.evaluate(async () => {
    const { pid_graph: graph } = await (await fetch("/graph/plant-100")).json();
    const put = async (nodes: { id: string }[]) => {
      const ids = new Set(nodes.map((node) => node.id));
      const edges = graph.edges.filter(
        (edge: { source: string; target: string }) => ids.has(edge.source) && ids.has(edge.target),
      );
      const metadata = { ...graph.metadata, job_id: "revised", drawing_name: "Revised" };
      await fetch("/graph/revised", {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ pid_graph: { nodes, edges, metadata } }),
      });
    };
    await put(graph.nodes);
    const relief = (node: { id: string }) => (node.id === "PSV-1106" ? { ...node, set_pressure: 14 } : node);
    await put(graph.nodes.filter((node: { id: string }) => node.id !== "HV-1016").map(relief));
  });
  // The previous version is the default.
  await page.goto("/drawings/revised?panel=changes");
  const legend = page.getByRole("status", { name: "Marked items" });
  await expect(legend).toContainText("removed");
  await expect(page.getByRole("region", { name: "critical" })).toContainText("PSV-1106");
  const removed = page.getByRole("region", { name: "high" }).getByRole("button", { name: /HV-1016/ });
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/node=PSV-1106/);
  const relief = page.getByRole("region", { name: "critical" }).getByRole("button", { name: /PSV-1106/ });
  await expect(relief).toHaveAttribute("aria-current", "true");
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/node=HV-1016/);
  await expect(removed).toHaveAttribute("aria-current", "true");
  await page.keyboard.press("p");
  await expect(page).toHaveURL(/node=PSV-1106/);
  // A copied link names the versions: after the next revision, it says that more has changed.
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy the link to this comparison" }).click();
  await expect(page.getByText("Copied.")).toBeVisible();
  const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  expect(Number(link.searchParams.get("new"))).toBe(Number(link.searchParams.get("old")) + 1);
  await page.getByRole("button", { name: "New", exact: true }).click();
  await expect(legend).not.toContainText("removed");
  await page.getByRole("button", { name: "Old", exact: true }).click();
  await expect(legend).toContainText("removed");
  await expectAccessible(page);
  await page.evaluate(() => fetch("/graph/revised", { method: "DELETE" }));
});

test("the next revision is uploaded where revisions are compared", async ({ page }) => {
  const id = `next-${Date.now()}`;
  await page.goto("/drawings");
  const revised = await page.evaluate(async (id) => {
    const { pid_graph: graph } = await (await fetch("/graph/plant-100")).json();
    const document = { pid_graph: { ...graph, metadata: { ...graph.metadata, job_id: id } } };
    const headers = { "Content-Type": "application/json" };
    await fetch(`/graph/${id}`, { method: "PUT", headers, body: JSON.stringify(document) });
    for (const node of document.pid_graph.nodes) if (node.id === "PSV-1106") node.set_pressure = 12;
    return JSON.stringify(document);
  }, id);
  await page.goto(`/drawings/${id}?panel=changes`);
  await expect(page.getByText("There is one version only")).toBeVisible();
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Upload a new version" }).click();
  const file = { name: "plant rev B.json", mimeType: "application/json", buffer: Buffer.from(revised) };
  await (await chooser).setFiles(file);
  await expect(page.getByRole("region", { name: "critical" })).toContainText("PSV-1106");
  await page.evaluate((id) => fetch(`/graph/${id}`, { method: "DELETE" }), id);
});

for (const path of [
  "/drawings/plant-100?node=V-101&view=isolate",
  "/drawings/plant-100?panel=lines",
  "/drawings/plant-100?with=storage-100",
]) {
  test(`is accessible: ${path}`, async ({ page }) => {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
    await expectAccessible(page);
  });
}

test("marks the result of a query", async ({ page }) => {
  await page.goto(
    `/drawings/plant-100?highlight=${encodeURIComponent('valveList() | filter(.fail_action == "open")')}`,
  );
  await expect(page.getByRole("status", { name: "Marked items" })).toHaveText("2 found");
  await expect(
    page.getByRole("region", { name: "Result" }).getByRole("button", { name: "PV-1104" }),
  ).toBeVisible();
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("the list shows the drawings", async ({ page }) => {
    await page.goto("/drawings");
    await expect(page.getByRole("link", { name: /100-PID-0001/ })).toBeInViewport();
  });

  test("one finger moves the drawing, two enlarge it, a tap selects", async ({ page }) => {
    await page.goto("/drawings/plant-100");
    const drawing = page.locator("[role=application][data-painted=all]");
    const box = await drawing.boundingBox();
    if (box === null) throw new Error("The drawing is not shown");
    const client = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...xs: number[]) =>
      client.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: xs.map((x, id) => ({ x, y: box.y + box.height / 2, id })),
      });
    // Where d3-zoom keeps the transform of an element.
    const transform = () =>
      drawing.evaluate((host) => (host as HTMLElement & { __zoom: { x: number; k: number } }).__zoom);
    const start = await transform();

    await touch("touchStart", 200);
    for (const x of [180, 150, 120]) await touch("touchMove", x);
    await touch("touchEnd");
    const moved = await transform();
    expect(moved.k).toBe(start.k);
    expect(moved.x).toBeCloseTo(start.x - 80, 0);

    await touch("touchStart", 180, 220);
    for (const spread of [40, 60, 80]) await touch("touchMove", 200 - spread, 200 + spread);
    await touch("touchEnd");
    expect((await transform()).k).toBeCloseTo(4 * start.k, 1);

    await page.goto("/drawings/plant-100?node=V-101&view=isolate");
    await expect(page.getByRole("region", { name: "Result" }).getByRole("status")).toBeInViewport();
    await drawing.waitFor();
    await page.getByRole("button", { name: "Close the panels" }).click();
    await drawing.press("Escape");
    await expect(page).not.toHaveURL(/node=/);
    await drawing.tap();
    await expect(page).toHaveURL(/node=V-101/);
  });
});
