// What all tests of the site share: a browser without a network, and looks at a page in every light.
"use strict";

const { before, after } = require("node:test");
const assert = require("node:assert/strict");
const { readFileSync, mkdirSync } = require("node:fs");
const { join } = require("node:path");
const { chromium } = require("playwright-core");

const { SITE, CHROMIUM } = process.env;
const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"];

let browser;
before(async () => { browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET }); });
after(() => browser?.close());

// A page without a network, whose every complaint is a fault.
async function open(address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, offline: true, ...options });
  page.faults = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) page.faults.push(message.text()); });
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("request", (request) => { if (/^https?:/.test(request.url())) page.faults.push(`asks for ${request.url()}`); });
  await page.goto(address);
  return page;
}

async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.close();
}

// In light, in dark and on a phone: no serious fault of accessibility, nothing wider than the screen, and a
// picture of it for whoever wants to look.
async function everywhere(address, name, ready) {
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const pictures = join(SITE, "..", "site-pictures");
  mkdirSync(pictures, { recursive: true });
  for (const [light, options] of [
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["phone", { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ]) {
    const page = await open(address, options);
    await ready(page);
    await page.evaluate(axe);
    // It would load style sheets a second time, which a page from a disk may not.
    const { violations } = await page.evaluate(() => axe.run({ preload: false }));
    const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
    assert.deepEqual(serious.map(({ id, nodes }) => `${name}, ${light}: ${id}: ${nodes[0].html}`), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name}, ${light}: ${wide} pixels too wide`);
    await page.screenshot({ path: join(pictures, `${name}-${light}.png`), fullPage: true });
    await close(page);
  }
}

module.exports = { open, close, everywhere };
