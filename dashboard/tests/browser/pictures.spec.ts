/** Takes the pictures of the README from the running product: `scripts/dashboard.sh pictures`. */
import { expect, test } from "./fixtures";

const folder = process.env.PIDQ_PICTURES;
test.use({ viewport: { width: 1280, height: 800 } });

const PICTURES: { name: string; path: string; text: string; scheme?: "dark" }[] = [
  { name: "dashboard-isolation", path: "/drawings/plant-100?node=V-101&view=isolate", text: "OPC-106" },
  {
    name: "dashboard-query",
    path: `/query?graph=plant-100&q=${encodeURIComponent("valveList() | filter(.fail_action != null) | pick(.tag, .class, .line, .fail_action)")}`,
    text: "FV-1102",
    scheme: "dark",
  },
];

for (const { name, path, text, scheme } of PICTURES) {
  test(name, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme ?? "light" });
    await page.goto(path);
    await expect(page.getByText(text).first()).toBeVisible();
    await page.screenshot({ path: `${folder}/${name}.png`, animations: "disabled" });
  });
}

test("dashboard-ask", async ({ page }) => {
  await page.goto("/ask");
  await page.getByRole("textbox", { name: "Question" }).fill("How is the standby pump started?");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Start the motor").first()).toBeVisible();
  await page.waitForTimeout(1000);
  await page.screenshot({ path: `${folder}/dashboard-ask.png`, animations: "disabled" });
});
