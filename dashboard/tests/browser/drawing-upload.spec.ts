/** Upload of drawings in other formats. */
import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";

/** A tank and a line that ends nowhere, which an import reports. */
function proteus(tag: string): string {
  return `<PlantModel><PlantInformation SchemaVersion="4.1" Units="mm"/>
    <Equipment ID="E1" TagName="${tag}" ComponentClass="Tank"/>
    <PipingNetworkSystem ID="L1" TagName="80-W-101">
      <PipingNetworkSegment ID="S1"><Connection FromID="E1"/></PipingNetworkSegment>
    </PipingNetworkSystem></PlantModel>`;
}

test("a Proteus drawing is uploaded, and its findings are listed", async ({ page }) => {
  const id = `upload-${Date.now()}`;
  await upload(page, `${id}.xml`, proteus("T-1"));
  const result = page.getByRole("region", { name: "Result of the upload" });
  await expect(result).toContainText(`${id} is stored as version 1, read as Proteus XML`);
  await expect(result.getByRole("row", { name: /I004/ })).toContainText("S1");
  await expectAccessible(page);

  await upload(page, `${id}.xml`, proteus("T-2"));
  await expect(result).toContainText("version 2");
  await result.getByRole("link", { name: "S1", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/drawings/${id}\\?node=S1$`));
  await expect(page.getByRole("heading", { level: 2, name: "S1" })).toBeVisible();
});

test("a drawing is uploaded as two CSV files", async ({ page }) => {
  const id = `csv-${Date.now()}`;
  await page.goto("/drawings");
  await page.getByRole("button", { name: "Several files …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Id" }).fill(id);
  const choose = async (label: string, name: string, text: string) => {
    const chooser = page.waitForEvent("filechooser");
    await dialog.getByRole("button", { name: `${label} …` }).click();
    await (await chooser).setFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
    await expect(dialog).toContainText(name);
  };
  await choose("Nodes", "items.csv", "id,tag\nP-1,P-1\nV-1,V-1\n");
  await expect(dialog.getByRole("button", { name: "Upload", exact: true })).toBeDisabled();
  await choose("Edges", "pipes.csv", "id,source,target\ne1,P-1,V-1\n");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Upload", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await page.goto(`/drawings/${id}?node=P-1`);
  await expect(page.getByRole("region", { name: "Connections" })).toContainText("V-1");
});

test.describe("files that cannot be read", () => {
  // The service refuses the second one.
  test.use({ expectedErrors: [/422/] });

  test("are refused with the reason", async ({ page }) => {
    await upload(page, "sheet.dwg", "AC1032");
    await expect(page.getByRole("alert")).toContainText("sheet.dwg cannot be read");
    await upload(page, "sheet.xml", "<PlantModel><Equipment></PlantModel>");
    await expect(page.getByRole("alert")).toContainText("Drawing not readable");
  });
});

async function upload(page: Page, name: string, text: string): Promise<void> {
  await page.goto("/drawings");
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose a file" }).click();
  await (await chooser).setFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
}
