/** Documents: pipelines, upload, documents beside their chunks, and names and texts that look like code. */
import type { Browser, Locator, Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";

// An upload of a program is rejected with 415.
test.use({ expectedErrors: [/status of 415/] });

const HOSTILE = "<img src=x onerror=alert(1)>";

test("a pipeline is created after a preview of its chunks, edited and deleted", async ({ page }) => {
  const name = `Unit 300 ${HOSTILE} ${Date.now()}`;
  await page.goto("/documents");
  await expect(page.getByRole("link", { name: "Unit 100" })).toBeVisible();
  await page.getByRole("button", { name: "New pipeline" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await dialog.getByRole("button", { name: "Next" }).click();
  await expect(dialog.getByRole("status")).toHaveText(/^1 chunk of/);
  await dialog.getByRole("textbox", { name: "Chunk size" }).fill("200");
  await dialog.getByRole("textbox", { name: "Chunk overlap" }).fill("0");
  await expect(dialog.getByRole("status")).toHaveText(/^[4-9] chunks of/);
  await dialog.getByRole("textbox", { name: "Chunk overlap" }).fill("300");
  await expect(dialog.getByRole("alert")).toContainText("chunk_overlap");
  await dialog.getByRole("textbox", { name: "Chunk overlap" }).fill("0");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create the pipeline" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByRole("textbox", { name: "Classifications" }).fill("manual, procedure");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  await page.getByRole("button", { name: /^Any classification/ }).click();
  await page.getByRole("option", { name: "procedure" }).click();

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete the pipeline" }).click();
  await dialog.getByRole("button", { name: "Delete the pipeline" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Documents" })).toBeVisible();
  await expect(page.getByRole("link", { name })).toHaveCount(0);
});

test("files are uploaded, shown as they are processed, filtered, corrected and deleted", async ({ page }) => {
  const pipeline = await openNewPipeline(page);
  await upload(page, [
    file(`${HOSTILE}.md`, `# ${HOSTILE}\n\nV-101 is next to ${HOSTILE}.`),
    file("broken.pdf", "%PDF-1.7\nno PDF"),
    file("program.exe", "MZ\0\0\0\0"),
  ]);
  const uploads = page.getByRole("region", { name: "Upload" });
  await expect(uploads.getByRole("status")).toHaveText("1 file ready, 2 failed");
  const uploaded = (name: string) => uploads.getByRole("listitem").filter({ hasText: name });
  await expect(uploaded(`${HOSTILE}.md`)).toContainText("Ready, searches find it");
  await expect(uploaded("broken.pdf")).toContainText("Uploaded, but processing failed");
  await expect(uploaded("broken.pdf")).toContainText("The PDF cannot be opened.");
  await expect(uploaded("broken.pdf")).toContainText("Next step: Repair the file");
  await expect(uploaded("broken.pdf").getByRole("button", { name: "Retry" })).toHaveCount(0);
  await expect(uploaded("program.exe")).toContainText("Next step: Upload one of the types named above");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  await expect(row(`${HOSTILE}.md`)).toContainText("Ready");
  await expect(row("broken.pdf")).toContainText("Failed");
  await expectAccessible(page);

  await page.getByRole("button", { name: /^Any status/ }).click();
  await page.getByRole("option", { name: "Failed" }).click();
  await expect(row(`${HOSTILE}.md`)).toHaveCount(0);
  await row("broken.pdf").getByRole("link").click();
  await expect(page.getByText("Next step:")).toBeVisible();
  await page.getByRole("button", { name: "Upload a new revision" }).click();
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose a file" }).click();
  await (await chooser).setFiles(file("corrected.md", "# Corrected\n\nThe seal of P-101A leaks."));
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "corrected.md" })).toBeVisible();
  await expect(page.getByRole("main").getByText("Ready", { exact: true })).toBeVisible();
  await expect(page.getByText("Revision 2", { exact: true })).toBeVisible();

  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Documents" }).click();
  await page.getByRole("link", { name: pipeline }).click();
  await page.getByRole("checkbox", { name: "Select corrected.md" }).check();
  await page.getByRole("button", { name: "Delete 1 document" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(row("corrected.md")).toHaveCount(0);
  await deletePipeline(page);
});

test("a file that failed is corrected where it was uploaded", async ({ page }) => {
  await openNewPipeline(page);
  await upload(page, [file("broken.pdf", "%PDF-1.7\nno PDF"), file("manual.md", "# Manual\n\nP-101A.")]);
  const uploads = page.getByRole("region", { name: "Upload" });
  await expect(uploads.getByRole("status")).toHaveText("1 file ready, 1 failed");
  await uploads.getByRole("button", { name: "Upload a new revision" }).click();
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose a file" }).click();
  await (await chooser).setFiles(file("repaired.md", "# Repaired\n\nThe seal of P-101A leaks."));
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await expect(uploads.getByRole("status")).toHaveText("2 files ready");
  await expect(uploads.getByRole("listitem").filter({ hasText: "repaired.md" })).toContainText("Ready");

  await page.getByRole("checkbox", { name: "Select manual.md" }).check();
  await page.getByRole("button", { name: "Delete 1 document" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(uploads.getByRole("status")).toHaveText("1 file ready, 1 deleted");
  await page.getByRole("button", { name: "Clear the list of uploads" }).click();
  await expect(uploads.getByRole("status")).toHaveCount(0);
  await deletePipeline(page);
});

test("an upload is being processed until the service reports the end", async ({ page }) => {
  await openNewPipeline(page);
  // The lists of the service as they were before any worker took the document.
  await page.route(/\/documents\?/, async (route) => {
    const response = await route.fetch();
    const listed = await response.json();
    const data = listed.data.map((row: object) => ({ ...row, status: "queued", terminal: false }));
    await route.fulfill({ response, json: { ...listed, data } });
  });
  await upload(page, [file("manual.md", "# Manual\n\nP-101A.")]);
  const uploads = page.getByRole("region", { name: "Upload" });
  await expect(uploads.getByRole("status")).toHaveText("1 file being processed");
  await expect(uploads.getByRole("listitem")).toContainText("Uploaded, being processed: Queued");
  await page.unroute(/\/documents\?/);
  await expect(uploads.getByRole("status")).toHaveText("1 file ready");
  await deletePipeline(page);
});

test("a chunk marks its place in the pages of a PDF, and a place selects its chunk", async ({
  page,
  browser,
}) => {
  const pipeline = await openNewPipeline(page, { "Chunk size": "60", "Chunk overlap": "0" });
  const pdf = await pdfOf(browser, [
    "First page: V-101 is fed by P-101A.",
    "Second page: V-101 has two outlets.",
  ]);
  await upload(page, [{ name: "vessel.pdf", mimeType: "application/pdf", buffer: pdf }]);
  await page.getByRole("row").getByRole("link", { name: "vessel.pdf" }).click();
  const pages = page.getByRole("region", { name: "Pages of the document" });
  await expect(pages.getByRole("img", { name: "Page 1" })).toBeVisible();
  const chunks = page.getByRole("region", { name: "Chunks" });
  await chunks.getByRole("button", { name: /Second page/ }).click();
  await expect(pages.locator("[data-page='2'] [data-mark]").first()).toBeInViewport();
  await expect(pages.locator("[data-page='1'] [data-mark]")).toHaveCount(0);
  await expect(page).toHaveURL(/chunk=1/);
  await expectAccessible(page);

  await pages.getByText("First page").click();
  await expect(chunks.getByRole("button", { name: /First page/ })).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("radio", { name: "Text" }).click();
  await expect(page.getByRole("region", { name: "Text of the document" }).locator("mark")).toContainText(
    "V-101 is fed by P-101A",
  );
  await chunks.getByRole("link", { name: "V-101" }).first().click();
  await expect(page).toHaveURL(/\/drawings\/plant-100\?node=V-101/);
  await page.goBack();
  await page.getByRole("link", { name: pipeline }).click();
  await deletePipeline(page);
});

test("words that are cited are shown on the page where they are, also in a chunk of several pages", async ({
  page,
  browser,
}) => {
  const pipeline = await openNewPipeline(page);
  const filler = Array.from({ length: 30 }, () => "No flow.").join(" ");
  const pdf = await pdfOf(browser, [
    `First page: V-101. ${filler}`,
    "Second page: P-101A delivers 45 cubic meters.",
  ]);
  await upload(page, [{ name: "pages.pdf", mimeType: "application/pdf", buffer: pdf }]);
  await page.getByRole("row").getByRole("link", { name: "pages.pdf" }).click();
  await expect(page.getByRole("region", { name: "Pages of the document" })).toBeVisible();
  const address = new URL(page.url()).pathname;
  const text = await textOf(page, address);
  const start = text.indexOf("P-101A delivers");
  expect(start).toBeGreaterThan(0);
  await page.goto(`${address}?page=1&start=${start}&end=${start + "P-101A delivers 45".length}`);
  await expect(page.locator("[data-page='2'] [data-exact]").first()).toBeInViewport();
  await page.getByRole("link", { name: pipeline }).click();
  await deletePipeline(page);
});

test("a citation is marked at its own place, also where the same words occur before it", async ({
  page,
  browser,
}) => {
  const pipeline = await openNewPipeline(page);
  const sentence = "Check the seal of P-101A every day.";
  const gap = '<span style="display: block; height: 500px"></span>';
  const pdf = await pdfOf(browser, [`${sentence}${gap}${sentence}`]);
  await upload(page, [{ name: "twice.pdf", mimeType: "application/pdf", buffer: pdf }]);
  await page.getByRole("row").getByRole("link", { name: "twice.pdf" }).click();
  await expect(page.getByRole("region", { name: "Pages of the document" })).toBeVisible();
  const address = new URL(page.url()).pathname;
  const text = await textOf(page, address);
  const mark = page.locator("[data-page='1'] [data-exact]");
  const heightOfMark = async (start: number) => {
    await page.goto(`${address}?page=1&start=${start}&end=${start + sentence.length}`);
    await expect(mark).toHaveCount(1);
    const marked = await mark.boundingBox();
    const shown = await page.locator("[data-page='1']").boundingBox();
    if (!marked || !shown) throw new Error("the mark is not shown");
    return (marked.y - shown.y) / shown.height;
  };
  expect(await heightOfMark(text.indexOf(sentence))).toBeLessThan(0.2);
  expect(await heightOfMark(text.lastIndexOf(sentence))).toBeGreaterThan(0.4);
  await page.getByRole("link", { name: pipeline }).click();
  await deletePipeline(page);
});

test("a mail leads to its attachments, and they lead back", async ({ page }) => {
  await openNewPipeline(page);
  const part = (headers: string, text: string) => `--b\r\n${headers}\r\n\r\n${text}\r\n`;
  const attachment = (name: string, text: string) =>
    part(`Content-Type: text/plain\r\nContent-Disposition: attachment; filename="${name}"`, text);
  const mail = [
    "From: a@example.com\r\nSubject: Pumps\r\nMIME-Version: 1.0\r\n",
    "Content-Type: multipart/mixed; boundary=b\r\n\r\n",
    part("Content-Type: text/plain", "See the files."),
    attachment("pump.txt", "The seal of P-101A leaks."),
    attachment(`${HOSTILE}.txt`, "V-101 is empty."),
    "--b--\r\n",
  ];
  await upload(page, [file("pumps.eml", mail.join(""))]);
  await page.getByRole("row").getByRole("link", { name: "pumps.eml" }).click();
  const attachments = page.getByRole("region", { name: "Attachments" });
  await expect(attachments.getByRole("link")).toHaveText([`${HOSTILE}.txt`, "pump.txt"]);
  await expectAccessible(page);
  await attachments.getByRole("link", { name: "pump.txt" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "pump.txt" })).toBeVisible();
  await page.getByRole("button", { name: "Actions for pump.txt" }).click();
  await expect(page.getByRole("menuitem", { name: "Delete" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Change the classification" })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await page.getByText("Attachment of").getByRole("link", { name: "pumps.eml" }).click();

  await page.getByRole("button", { name: "Actions for pumps.eml" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByRole("dialog")).toContainText("a mail is deleted with its attachments");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("There are no documents yet")).toBeVisible();
  await deletePipeline(page);
});

test("a citation is marked in the image of its page", async ({ page, browser }) => {
  test.skip(!process.env.PIDQ_PDFTOPPM, "pdftoppm (poppler-utils) is not installed");
  await openNewPipeline(page);
  const cited = "The relief valve PSV-2071 is set at 38.5 barg.";
  const buffer = await pdfOf(browser, ["Start of the manual.", cited]);
  await upload(page, [{ name: "vessel.pdf", mimeType: "application/pdf", buffer }]);
  await expect(page.getByRole("row").filter({ hasText: "vessel.pdf" })).toContainText("Ready");
  const pipeline = new URL(page.url()).pathname;
  const question = "What is the set pressure of PSV-2071?";
  await page.goto(`${pipeline.replace("/documents/", "/ask/")}?q=${encodeURIComponent(question)}`);
  const turn = page.getByRole("article", { name: question });
  await turn
    .getByRole("button", { name: /^Passage 1/ })
    .first()
    .click();
  const passage = page.getByRole("complementary", { name: "Passage 1" });
  const shown = passage.getByRole("region", { name: "Page 2 of vessel.pdf" });
  const image = shown.getByRole("img", { name: `Page 2 of vessel.pdf, with marked words: ${cited}` });
  await expect(image).toBeVisible();
  await shown.focus();
  await expect(shown).toBeFocused();
  await expectAccessible(page);
  await expect.poll(() => inkOf(shown)).toEqual({ isInMarks: true, isOutside: false });
  await page.goto(pipeline);
  await deletePipeline(page);
});

test("a page has an image where the browser cannot open the PDF", async ({ page, browser }) => {
  test.skip(!process.env.PIDQ_PDFTOPPM, "pdftoppm (poppler-utils) is not installed");
  await openNewPipeline(page);
  const buffer = await pdfOf(browser, ["Start of the manual.", "The vessel V-207 is red."]);
  await upload(page, [{ name: "vessel.pdf", mimeType: "application/pdf", buffer }]);
  await page.route("**/content", (route) => route.fulfill({ body: "no PDF" }));
  await page.getByRole("row").getByRole("link", { name: "vessel.pdf" }).click();
  const pages = page.getByRole("region", { name: "Pages of the document" });
  await expect(pages.getByRole("img", { name: "Page 1 of vessel.pdf" })).toBeVisible();
  await page.getByRole("region", { name: "Chunks" }).getByText("V-207 is red").click();
  await expect(
    pages.getByRole("img", { name: /^Page 2 of vessel.pdf, with marked words: .*V-207/ }),
  ).toBeVisible();
  await expect.poll(() => inkOf(pages)).toEqual({ isInMarks: true, isOutside: false });
  await page.goBack();
  await deletePipeline(page);
});

test("the words of a chunk are marked on a scanned image", async ({ page, browser }) => {
  test.skip(!process.env.PIDQ_TESSERACT, "tesseract is not installed");
  await openNewPipeline(page);
  await upload(page, [
    { name: "scan.png", mimeType: "image/png", buffer: await scanOf(browser, "The vessel V-207 is red.") },
  ]);
  await page.getByRole("row").getByRole("link", { name: "scan.png" }).click();
  const frame = page.getByRole("region", { name: "Image of the document" });
  await expect(frame.getByRole("img", { name: "scan.png" })).toBeVisible();
  await page.getByRole("region", { name: "Chunks" }).getByText("V-207 is red").click();
  await expect(
    frame.getByRole("img", { name: "scan.png, with marked words: The vessel V-207 is red." }),
  ).toBeVisible();
  await expectAccessible(page);
  await expect.poll(() => inkOf(frame)).toEqual({ isInMarks: true, isOutside: false });
  await page.goBack();
  await deletePipeline(page);
});

/** Whether there are dark pixels of the image in its marks, and elsewhere. */
async function inkOf(frame: Locator): Promise<{ isInMarks: boolean; isOutside: boolean }> {
  return frame.evaluate((frame) => {
    const image = frame.querySelector("img");
    if (!image?.complete) throw new Error("the image is not loaded");
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext("2d");
    if (!context) throw new Error("no canvas");
    const { left, top, width } = image.getBoundingClientRect();
    const scale = image.naturalWidth / width;
    const isDark = () => {
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      for (let index = 0; index < data.length; index += 4)
        if ((data[index] ?? 255) < 100 && data[index + 3] === 255) return true;
      return false;
    };
    context.drawImage(image, 0, 0);
    const marks = [...frame.querySelectorAll("[data-mark]")].map((mark) => mark.getBoundingClientRect());
    const isAnywhere = isDark();
    // A pixel more for the rounding of edges.
    for (const mark of marks)
      context.clearRect(
        (mark.left - left) * scale - 1,
        (mark.top - top) * scale - 1,
        mark.width * scale + 2,
        mark.height * scale + 2,
      );
    const isOutside = isDark();
    return { isInMarks: isAnywhere && !isOutside, isOutside };
  });
}

async function openNewPipeline(page: Page, parameters: Record<string, string> = {}): Promise<string> {
  const name = `Unit upload ${Date.now()}`;
  await page.goto("/documents");
  await page.getByRole("button", { name: "New pipeline" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await dialog.getByRole("button", { name: "Next" }).click();
  for (const [name, value] of Object.entries(parameters))
    await dialog.getByRole("textbox", { name }).fill(value);
  await dialog.getByRole("button", { name: "Create the pipeline" }).click();
  await expect(page.getByText("There are no documents yet")).toBeVisible();
  return name;
}

/** The extracted text of the document at an address of the dashboard. */
async function textOf(page: Page, address: string): Promise<string> {
  return page.evaluate(
    async (address) =>
      (
        await fetch(
          `/api/pipelines${address.replace("/documents/", "/").replace(/\/(?=[^/]*$)/, "/documents/")}/text`,
        )
      ).text(),
    address,
  );
}

async function deletePipeline(page: Page): Promise<void> {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete the pipeline" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the pipeline" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Documents" })).toBeVisible();
}

interface TestFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

function file(name: string, content: string): TestFile {
  return { name, mimeType: "application/octet-stream", buffer: Buffer.from(content) };
}

async function upload(page: Page, files: TestFile[]): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose files" }).click();
  await (await chooser).setFiles(files);
}

/** An image of a text, as a scanner makes it. */
async function scanOf(browser: Browser, text: string): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 800, height: 300 }, deviceScaleFactor: 2 });
  await page.setContent(`<p style="font: 32px sans-serif">${text}</p>`);
  const scan = await page.screenshot();
  await page.close();
  return scan;
}

async function pdfOf(browser: Browser, texts: string[]): Promise<Buffer> {
  const page = await browser.newPage();
  const paragraphs = texts.map((text) => `<p style="break-after: page">${text}</p>`);
  await page.setContent(paragraphs.join(""));
  const pdf = await page.pdf();
  await page.close();
  return pdf;
}
