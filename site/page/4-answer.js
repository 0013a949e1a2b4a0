// The answer: the plan, the lines to paste, the table of all plans.

function drawBest(answer) {
  picture.best = null;
  if (answer.error) {
    $("answer").replaceChildren(element("p", { class: "error" }, answer.error));
    $("paste").replaceChildren();
    return;
  }
  const { plan, fleet, items, paste } = answer;
  picture.best = plan;
  picture.error = plan.falsePositives;
  const figure = (name, value) => element("div", { class: "figure" }, element("dt", {}, name), element("dd", {}, value));
  const figures = [figure("memory", shown.bytes(plan.bytes))];
  if (plan.bits != null) figures.push(figure("bits per item", shown.fixed(plan.bits, 1)));
  if (plan.least != null) figures.push(figure("least possible", shown.fixed(plan.least, 1)), figure("times the least", shown.fixed(plan.ratio, 2)));
  figures.push(figure("error", shown.share(plan.falsePositives + plan.falseNegatives)));
  if (items && chosen("window") === "within") figures.push(figure("keys", shown.number(items)));
  const parts = [
    element("p", { class: "structure" }, plan.structure),
    element("dl", { class: "answer" }, ...figures),
  ];
  if (plan.ratio) {
    const least = Math.min(100, 100 / plan.ratio);
    const bar = element("div", { class: "bar", role: "img", "aria-label": `${Math.round(least)}% of it is the least possible` },
      element("i", { style: `width:${least}%` }), element("b", { style: `width:${100 - least}%` }));
    parts.push(bar);
  }
  parts.push(element("p", {}, `${plan.promise[0].toUpperCase()}${plan.promise.slice(1)}.`));
  parts.push(element("p", { class: "note" }, `Why: ${plan.reason}.${plan.adapts ? " It grows and shrinks with what it holds." : ""}`));
  if (fleet && fleet.servers > 1) {
    const slack = fleet.slack ? `, reporting up to ${shown.number(fleet.slack)} keys longer because of the split` : "";
    parts.push(element("p", { id: "fleet" }, `It does not fit one server: ${fleet.servers} shards, ${shown.bytes(fleet.bytes)} on each${slack}.`));
  } else if (fleet) {
    parts.push(element("p", { id: "fleet", class: "note" }, "It fits one server."));
  }
  $("answer").replaceChildren(...parts);
  drawPaste(paste);
}

function drawPaste(paste) {
  const names = { rust: "Rust", command: "Command", server: "Redis", python: "Python" };
  const parts = Object.entries(names).flatMap(([to, name]) => {
    const copy = element("button", { type: "button", "aria-label": `Copy the line for ${name}` }, "Copy");
    copy.onclick = async () => {
      await navigator.clipboard?.writeText(paste[to]).then(() => { copy.textContent = "Copied"; }, () => {});
      setTimeout(() => { copy.textContent = "Copy"; }, 1500);
    };
    return [element("dt", {}, name), element("dd", {}, element("code", { "data-to": to, tabindex: "0" }, paste[to]), copy)];
  });
  $("paste").replaceChildren(...parts);
}

const COLUMNS = [
  ["structure", "structure", (plan) => plan.structure],
  ["memory", "bytes", (plan) => shown.bytes(plan.bytes)],
  ["bits per item", "bits", (plan) => shown.fixed(plan.bits, 1)],
  ["× least", "ratio", (plan) => shown.fixed(plan.ratio, 2)],
  ["error", "wrong", (plan) => shown.share(plan.wrong)],
  ["instructions", "cost", (plan) => shown.number(plan.cost, 2)],
  ["why", null, (plan) => plan.reason],
];
const table = { plans: [], by: null, down: false };

function drawHead() {
  const cells = COLUMNS.map(([title, by]) => {
    if (!by) return element("th", { scope: "col", class: "why" }, title);
    const button = element("button", { type: "button" }, title);
    button.onclick = () => {
      table.down = table.by === by ? !table.down : false;
      table.by = by;
      drawHead();
      drawTable();
      $("plans").querySelectorAll("th button")[COLUMNS.findIndex((column) => column[1] === by)].focus();
    };
    const cell = element("th", { scope: "col" }, button);
    if (table.by === by) cell.setAttribute("aria-sort", table.down ? "descending" : "ascending");
    return cell;
  });
  $("plans").tHead.replaceChildren(element("tr", {}, ...cells));
}

function drawTable() {
  const plans = table.plans.map((plan) => ({ ...plan, wrong: plan.falsePositives + plan.falseNegatives }));
  if (table.by) {
    const order = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    plans.sort((one, other) => (table.down ? -1 : 1) * order(one[table.by] ?? Infinity, other[table.by] ?? Infinity));
  }
  const rows = plans.map((plan) => {
    const row = element("tr", { "data-structure": plan.structure }, ...COLUMNS.map(([, by, show]) => element("td", by ? {} : { class: "why" }, show(plan))));
    const light = (on) => () => document.querySelector(`#chart .row[data-structure="${plan.structure}"]`)?.classList.toggle("lit", on);
    row.onpointerenter = light(true);
    row.onpointerleave = light(false);
    return row;
  });
  $("plans").tBodies[0].replaceChildren(...rows);
}

// A change of anything: the plan at once, then the table, then the picture line by line.
let asked = null;
async function plan() {
  show();
  writeAddress();
  const text = lines();
  asked = text;
  for (const kind of ["best", "plans", "picture", "day"]) planner.forget(kind);
  drawDayLater();
  const best = await planner.ask("best", "best", text);
  if (asked !== text) return;
  drawBest(best);
  if (!document.documentElement.dataset.first) document.documentElement.dataset.first = performance.now().toFixed(0);
  document.documentElement.dataset.shown = text;
  const plans = await planner.ask("plans", "plans", text);
  if (asked !== text) return;
  table.plans = plans.error ? [] : plans;
  drawTable();
  document.documentElement.dataset.listed = text;
  // The same window at other errors; how many servers is no part of it.
  const least = await planner.ask("picture", "least", text);
  if (asked !== text || least.error) return;
  const rows = new Map();
  for (const { name } of await structures) {
    const curve = await planner.ask("picture", "curve", text, name);
    if (asked !== text) return;
    rows.set(name, curve);
  }
  Object.assign(picture, { least, rows });
  drawPicture();
  document.documentElement.dataset.pictured = text;
}
