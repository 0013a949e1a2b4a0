// The book and the report in a real browser, from files.
"use strict";

const { test } = require("node:test");
const assert = require("node:assert/strict");
const { existsSync, readdirSync } = require("node:fs");
const { join } = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");
const { open, close, everywhere } = require("./browser.cjs");

const { SITE } = process.env;
const BOOK = join(SITE, "book");
const chapter = (name) => pathToFileURL(join(BOOK, name)).href;
const chapters = readdirSync(BOOK).filter((file) => file.endsWith(".html"));

// Pictures begin to load when they are looked at, and are there soon after.
async function pictured(page) {
  await page.waitForFunction(() => [...document.images].every((image) => image.complete), null, { timeout: 60_000 });
}

test("every chapter opens without a complaint, and its links lead somewhere", async () => {
  assert.ok(chapters.length >= 15, `${chapters.length} chapters`);
  const headings = new Map();
  const wanted = [];
  for (const file of chapters) {
    const page = await open(chapter(file));
    headings.set(file, await page.$$eval("[id]", (all) => all.map(({ id }) => id)));
    const links = await page.$$eval("a[href], img[src], link[href], script[src]", (all) => all.map((one) => one.href || one.src));
    wanted.push(...links.filter((link) => link.startsWith("file:")).map((link) => [file, link]));
    assert.equal(await page.$$eval("h1", (all) => all.length), 1, `${file}: one title`);
    assert.equal(await page.$$eval(".chapters [aria-current]", (all) => all.length), 1, file);
    await close(page);
  }
  for (const [from, link] of wanted) {
    const address = new URL(link);
    const path = fileURLToPath(address.origin === "null" ? `file://${address.pathname}` : address);
    assert.ok(existsSync(path), `${from}: ${link}`);
    const file = path.startsWith(BOOK) ? path.slice(BOOK.length + 1) : null;
    if (address.hash && headings.has(file)) {
      assert.ok(headings.get(file).includes(decodeURIComponent(address.hash.slice(1))), `${from}: ${link}`);
    }
  }
});

test("the planner's page leads to the book and the report, and they lead back", async () => {
  const page = await open(pathToFileURL(join(SITE, "index.html")).href);
  await page.click("text=The report");
  assert.match(await page.textContent("h1"), /report/);
  await page.click(".chapters .name");
  await page.waitForSelector("#asked");
  await close(page);
});

test("every figure of the report is there to be seen, in light and in dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(chapter("report.html"), { colorScheme });
    await pictured(page);
    const figures = await page.$$eval("figure img", (all) => all.map((image) => [image.alt, image.naturalWidth, image.getBoundingClientRect().width, image.getBoundingClientRect().height]));
    assert.ok(figures.length >= 25, `${figures.length} figures`);
    for (const [alt, natural, width, height] of figures) {
      assert.ok(alt.length > 10 && natural > 0 && width > 500 && height > 200, `${alt}: ${natural} ${width} ${height}`);
    }
    await close(page);
  }
});

// The paper of a picture is dark where the screen is.
test("pictures follow the colours of the screen", async () => {
  for (const [colorScheme, dark] of [["light", false], ["dark", true]]) {
    const page = await open(chapter("report/ours-day.svg"), { colorScheme });
    const paper = await page.$eval("rect", (rect) => getComputedStyle(rect).fill);
    const [red] = /\d+/.exec(paper);
    assert.equal(Number(red) < 128, dark, paper);
    const dashes = await page.$$eval("polyline", (all) => all.filter((line) => getComputedStyle(line).strokeDasharray !== "none").length);
    assert.ok(dashes >= 1, "the bound is dashed");
    await close(page);
  }
});

test("tables of the report sort", async () => {
  const page = await open(chapter("report.html"));
  const tables = await page.$$("table");
  assert.ok(tables.length >= 4, `${tables.length} tables`);
  for (const table of tables) {
    const rows = await table.$$eval("tbody tr", (all) => all.length);
    for (const at of [1, 2]) {
      const column = () => table.$$eval(`tbody td:nth-child(${at})`, (all) => all.map((cell) => cell.textContent));
      const before = await column();
      await (await table.$(`th:nth-child(${at}) button`)).click();
      assert.equal(await (await table.$(`th:nth-child(${at})`)).getAttribute("aria-sort"), "ascending");
      const up = await column();
      assert.deepEqual(up.toSorted(), before.toSorted());
      const numbers = up.map((cell) => parseFloat(cell.replaceAll(",", ""))).filter((number) => !Number.isNaN(number));
      if (numbers.length === rows) assert.deepEqual(numbers, numbers.toSorted((one, other) => one - other));
      await (await table.$(`th:nth-child(${at}) button`)).click();
      assert.equal(await (await table.$(`th:nth-child(${at})`)).getAttribute("aria-sort"), "descending");
    }
  }
  await close(page);
});

test("no serious fault of accessibility in any chapter, in light, dark and on a phone", async () => {
  for (const file of chapters) await everywhere(chapter(file), file.replace(".html", ""), pictured);
});
