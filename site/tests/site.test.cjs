// The site in a real browser, from files, as somebody opens it who was sent a folder.
"use strict";

const { test } = require("node:test");
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { open, close, everywhere } = require("./browser.cjs");

const { SITE, LATELY } = process.env;
const PAGE = pathToFileURL(join(SITE, "index.html")).href;

const reached = (page, what, text) =>
  page.waitForFunction(([what, text]) => (text ? document.documentElement.dataset[what] === text : document.documentElement.dataset[what]), [what, text], { timeout: 120_000 });
const address = (asked) => `${PAGE}#${new URLSearchParams(asked)}`;
const linesOf = (asked) => asked.map(([name, value]) => `${name} ${value}`.trim()).join("\n");

// A stream of numbers between 0 and 1 that is the same every time.
function numbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// A goal as the page and as the command are told it.
function goal(next) {
  const pick = (list) => list[Math.floor(next() * list.length)];
  const kind = pick(["last", "within", "ever"]);
  const items = Math.round(10 ** (2 + 6 * next()));
  const asked = [];
  const flags = [];
  if (kind === "last") { asked.push(["last", String(items)]); flags.push("--last", String(items)); }
  if (kind === "within") {
    const seconds = pick([60, 3600, 86400]);
    const rate = Math.max(1, Math.round(items / seconds));
    asked.push(["within", `${seconds}s`], ["rate", String(rate)]);
    flags.push("--within", `${seconds}s`, "--expected", String(rate * seconds));
  }
  if (kind === "ever") { asked.push(["ever", ""], ["expected", String(items)]); flags.push("--ever", "--expected", String(items)); }
  if (next() < 0.8) {
    const error = (10 ** (-0.5 - 6 * next())).toPrecision(3);
    asked.push(["error", error]);
    flags.push("--error", error);
  } else {
    const memory = `${Math.round(items * (1 + 3 * next()))}B`;
    asked.push(["memory", memory]);
    flags.push("--memory", memory);
  }
  if (next() < 0.25) { asked.push(["counting", ""]); flags.push("--counting"); }
  return { asked: [...asked, ["server", "1TiB"]], flags };
}

test("fifty random goals: the page's plans are the command's", async () => {
  const page = await open(PAGE);
  await reached(page, "shown");
  const next = numbers(24);
  let planned = 0;
  for (let round = 0; round < 50; round += 1) {
    const { asked, flags } = goal(next);
    await page.evaluate((hash) => { location.hash = hash; }, new URLSearchParams(asked).toString());
    await reached(page, "listed", linesOf(asked));
    const told = await page.evaluate(() => table.plans);
    let command;
    try {
      command = JSON.parse(execFileSync(LATELY, ["plan", "--json", ...flags], { stdio: ["ignore", "pipe", "pipe"] }));
    } catch (refused) {
      const complaint = await page.textContent("#answer .error");
      assert.ok(String(refused.stderr).includes(complaint.split("\n")[0].slice(0, 60)), `${flags}: ${complaint} / ${refused.stderr}`);
      continue;
    }
    planned += 1;
    const facts = (plan) => [plan.structure, plan.promise, plan.reason];
    assert.deepEqual(told.map(facts), command.map(facts), flags.join(" "));
    told.forEach((plan, at) => {
      const theirs = command[at];
      // A pointer takes half as much in a browser, and what adapts has a few of them.
      const apart = plan.adapts ? 0.02 : 1e-9;
      const close = (one, other) => one === other || Math.abs(one - other) <= apart * Math.abs(other);
      for (const [ours, name] of [["bytes", "bytes"], ["bits", "bits_per_item"], ["least", "lower_bound_bits_per_item"], ["ratio", "ratio"], ["falsePositives", "false_positive_rate"], ["falseNegatives", "false_negative_rate"]]) {
        assert.ok(close(plan[ours], theirs[name]), `${flags.join(" ")}: ${plan.structure}: ${name} ${plan[ours]} ${theirs[name]}`);
      }
    });
    // What stands at the top is the first of them.
    assert.equal(await page.textContent("#answer .structure"), command[0].structure);
  }
  assert.ok(planned >= 40, `${planned} of 50 goals have a plan`);
  await close(page);
});

test("sliders move the plan, in little time", async () => {
  const page = await open(PAGE);
  await reached(page, "listed");
  const memory = () => page.textContent("#answer .figure:first-child dd");
  const before = await memory();
  const times = [];
  for (const [slider, key, steps] of [["#error-slide", "ArrowLeft", 10], ["#last-slide", "ArrowRight", 10]]) {
    await page.focus(slider);
    for (let step = 0; step < steps; step += 1) {
      const shown = await page.evaluate(() => document.documentElement.dataset.shown);
      await page.keyboard.press(key);
      await page.waitForFunction((shown) => document.documentElement.dataset.shown !== shown, shown);
      times.push(Number(await page.evaluate(() => document.documentElement.dataset.tookbest)));
    }
  }
  assert.notEqual(await memory(), before);
  times.sort((one, other) => one - other);
  console.log(`first plan ${await page.evaluate(() => document.documentElement.dataset.first)} ms after the page began; a step of a slider: median ${times[times.length / 2]} ms, most ${times.at(-1)} ms`);
  await close(page);
});

test("sliders move the plan for a memory too, for every window", async () => {
  for (const [kind, memory] of [[[["last", "1M"]], "2MB"], [[["within", "1h"], ["rate", "1k"]], "8MB"], [[["ever", ""], ["expected", "10M"]], "20MB"]]) {
    const page = await open(address([...kind, ["memory", memory], ["server", "8GiB"]]));
    await reached(page, "listed");
    const times = [];
    const plans = new Set();
    await page.focus("#memory-slide");
    for (let step = 0; step < 20; step += 1) {
      const shown = await page.evaluate(() => document.documentElement.dataset.shown);
      await page.keyboard.press("ArrowRight");
      await page.waitForFunction((shown) => document.documentElement.dataset.shown !== shown, shown);
      times.push(Number(await page.evaluate(() => document.documentElement.dataset.tookbest)));
      plans.add(await page.textContent("#answer"));
    }
    assert.ok(plans.size >= 5, `${kind[0][0]}: ${plans.size} different plans in 20 steps`);
    times.sort((one, other) => one - other);
    console.log(`a memory, ${kind[0][0]}: a step of a slider takes ${times[times.length / 2]} ms, at most ${times.at(-1)}; it should be below 50`);
    await close(page);
  }
});

test("the address carries the choice there and back", async () => {
  for (const asked of [
    [["last", "250k"], ["error", "2%"], ["counting", ""], ["server", "1MiB"]],
    [["within", "24h"], ["rate", "50"], ["memory", "64MB"], ["server", "8GiB"]],
    [["ever", ""], ["expected", "3M"], ["error", "1e-7"], ["removing", ""], ["server", "8GiB"]],
  ]) {
    const page = await open(address(asked));
    await reached(page, "shown", linesOf(asked));
    const carried = new URLSearchParams(new URL(page.url()).hash.slice(1));
    assert.deepEqual([...carried], asked);
    await page.reload();
    await reached(page, "shown", linesOf(asked));
    await close(page);
  }
});

test("what is wrong is told, and what does not fit one server is split", async () => {
  let page = await open(address([["last", "-3"], ["error", "1%"]]));
  await page.waitForSelector("#answer .error");
  assert.match(await page.textContent("#answer .error"), /a positive number, such as/);
  await close(page);
  page = await open(address([["last", "100M"], ["error", "0.1%"], ["server", "64MiB"]]));
  await reached(page, "shown");
  assert.match(await page.textContent("#fleet"), /does not fit one server: \d+ shards/);
  const shards = Number(/(\d+) shards/.exec(await page.textContent("#fleet"))[1]);
  assert.ok((await page.textContent('[data-to="command"]')).includes(`--shards ${shards}`));
  await close(page);
});

test("lines for the command are understood by it", async () => {
  const next = numbers(7);
  const page = await open(PAGE);
  await reached(page, "shown");
  for (let round = 0; round < 8; round += 1) {
    const { asked } = goal(next);
    const small = asked.filter(([name]) => name !== "memory").concat(asked.some(([name]) => name === "memory") ? [["error", "1%"]] : []);
    await page.evaluate((hash) => { location.hash = hash; }, new URLSearchParams(small).toString());
    await reached(page, "listed");
    await page.waitForFunction((text) => document.documentElement.dataset.shown.split("\n").sort().join() === text.split("\n").sort().join(), linesOf(small));
    if (await page.$("#answer .error")) continue;
    const words = (await page.textContent('[data-to="command"]')).split(" ");
    assert.equal(words.shift(), "lately");
    assert.equal(words.pop(), "FILE");
    execFileSync(LATELY, [...words, "/dev/null"]);
  }
  await close(page);
});

test("the picture has the bound below every line, and the table sorts", async () => {
  const page = await open(PAGE);
  await reached(page, "pictured");
  const rows = await page.$$("#chart .row");
  assert.ok(rows.length >= 5, `${rows.length} lines`);
  for (const figure of ["#chart svg", "#rate", "#memory-picture svg", "#keys", "#bits"]) {
    await reached(page, "day");
    await reached(page, "work");
    const box = await (await page.$(figure)).boundingBox();
    assert.ok(box.width > 200 && box.height > 60, `${figure}: ${JSON.stringify(box)}`);
  }
  const below = await page.evaluate(() => picture.least.every(([, least], at) => [...picture.rows.values()].every((row) => row[at][1] == null || row[at][1] > least)));
  assert.ok(below);
  const column = (at) => page.$$eval(`#plans td:nth-child(${at})`, (cells) => cells.map((cell) => cell.textContent));
  await page.click("#plans th:nth-child(3) button");
  const bits = (await column(3)).map(Number);
  assert.deepEqual(bits, bits.toSorted((one, other) => one - other));
  assert.equal(await page.getAttribute("#plans th:nth-child(3)", "aria-sort"), "ascending");
  await page.keyboard.press("Enter");
  assert.deepEqual((await column(3)).map(Number), bits.toReversed());
  await close(page);
});

test("a day is drawn with the mouse and with keys", async () => {
  const page = await open(address([["within", "1h"], ["rate", "100"], ["error", "1%"]]));
  await reached(page, "day");
  const path = () => page.getAttribute("#memory-picture .memory", "d");
  const first = await path();
  await page.locator("#rate").scrollIntoViewIfNeeded();
  const box = await (await page.$("#rate")).boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.2, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction((first) => document.querySelector("#memory-picture .memory").getAttribute("d") !== first, first);
  const second = await path();
  await page.focus("#rate");
  for (let step = 0; step < 8; step += 1) await page.keyboard.press("ArrowUp");
  await page.waitForFunction((second) => document.querySelector("#memory-picture .memory").getAttribute("d") !== second, second);
  assert.match(await page.textContent("#day-hour"), /times the rate/);
  await close(page);
});

test("every structure works in the page, and mistakes happen", async () => {
  const page = await open(PAGE);
  await reached(page, "work");
  const names = await page.$$eval("#structure option", (options) => options.map((option) => option.value));
  assert.ok(names.length >= 15, `${names.length} structures`);
  await page.selectOption("#work-error", "0.2");
  for (const name of names) {
    await page.selectOption("#structure", name);
    await reached(page, "work", name);
    for (const button of ["#many", "#again", "#one", "#ask"]) {
      const before = await page.textContent("#status");
      await page.click(button);
      await page.waitForFunction((before) => document.getElementById("status").textContent !== before, before);
    }
    assert.match(await page.textContent("#status"), /Of 1,000 keys that never came/, name);
    const colours = await page.$eval("#bits", ({ width, height }) => {
      const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
      copy.drawImage(document.getElementById("bits"), 0, 0);
      return new Set(new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer)).size;
    });
    assert.ok(colours > 1, `${name}: nothing is drawn`);
  }
  await page.selectOption("#structure", "double-buffer");
  await reached(page, "work", "double-buffer");
  for (let round = 0; round < 3; round += 1) await page.click("#ask");
  await page.waitForFunction(() => /Of 3,000 keys/.test(document.getElementById("status").textContent));
  assert.doesNotMatch(await page.textContent("#status"), /it took 0 for seen/);
  await page.click("#run");
  const came = () => page.evaluate(() => work.last.told.came);
  const begun = await came();
  await page.waitForFunction((begun) => work.last.told.came > begun + 8, begun);
  await page.click("#run");
  await close(page);
});

test("no serious fault of accessibility, in light, dark and on a phone", async () => {
  await everywhere(PAGE, "page", async (page) => {
    for (const part of ["pictured", "day", "work"]) await reached(page, part);
  });
});
