// What is asked: fields, sliders and the address of the page say the same.

const SPANS = ["1s", "5s", "10s", "30s", "1m", "5m", "10m", "15m", "30m", "1h", "2h", "6h", "12h", "24h", "2d", "7d", "14d", "30d"];
const FIELDS = { last: "last", within: "within", rate: "rate-field", expected: "expected", error: "error", memory: "memory", server: "server" };
const DEFAULTS = Object.fromEntries(Object.entries(FIELDS).map(([name, id]) => [name, $(id).value]));

// A power of ten as people write it, in two digits.
function written(power, units) {
  const value = Number((10 ** power).toPrecision(2));
  const at = units.findLast(([size]) => value >= size) ?? units[0];
  return `${Number((value / at[0]).toPrecision(3))}${at[1]}`;
}
const COUNTS = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]];
const BYTES = [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]];

// And back, as far as a slider needs it: the planner reads what people write, and says what is wrong.
function power(text) {
  const [, number, unit] = /^\s*([\d._e+-]+)\s*([a-z%]*)\s*$/i.exec(text) ?? [];
  const sizes = { "": 1, "%": 0.01, b: 1, k: 1e3, m: 1e6, g: 1e9, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 1024, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 };
  return Math.log10(Number(number?.replaceAll("_", "")) * (sizes[unit?.toLowerCase()] ?? NaN));
}

const SLIDERS = {
  last: { read: power, write: (at) => written(at, COUNTS) },
  expected: { read: power, write: (at) => written(at, COUNTS) },
  rate: { read: power, write: (at) => (at < 0 ? String(Number((10 ** at).toPrecision(2))) : written(at, COUNTS)) },
  memory: { read: power, write: (at) => written(at, BYTES) },
  error: { read: power, write: (at) => (at < -5 ? (10 ** at).toExponential(1).replace(".0e", "e") : `${Number((100 * 10 ** at).toPrecision(2))}%`) },
  within: { read: (text) => SPANS.indexOf(text.trim()), write: (at) => SPANS[at] },
};
$("within-slide").max = SPANS.length - 1;

const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`).value;

// Pairs of a name and a text: what the address carries, and what the planner is asked.
function pairs() {
  const said = (name) => [name, $(FIELDS[name]).value.trim()];
  const window = chosen("window");
  const asked = window === "last" ? [said("last")] : window === "within" ? [said("within"), said("rate")] : [["ever", ""], said("expected")];
  asked.push(said(chosen("limit")));
  if ($("counting").checked) asked.push(["counting", ""]);
  if ($("removing").checked) asked.push(["removing", ""]);
  if ($("server").value.trim()) asked.push(said("server"));
  return asked;
}
const lines = (asked = pairs()) => asked.map(([name, value]) => `${name} ${value}`.trim()).join("\n");

function show() {
  for (const part of document.querySelectorAll("[data-for]")) {
    part.hidden = ![chosen("window"), chosen("limit")].includes(part.dataset.for);
  }
  for (const [name, slider] of Object.entries(SLIDERS)) {
    const range = $(`${name}-slide`);
    const at = slider.read($(FIELDS[name]).value);
    if (Number.isFinite(at) && at >= 0 || name !== "within" && Number.isFinite(at)) range.value = at;
    range.setAttribute("aria-valuetext", $(FIELDS[name]).value);
  }
}

// The address as it was left, or as somebody sent it.
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (![...asked.keys()].some((name) => ["last", "within", "ever"].includes(name))) return false;
  const choose = (name, value) => { document.querySelector(`input[name="${name}"][value="${value}"]`).checked = true; };
  choose("window", ["last", "within", "ever"].find((name) => asked.has(name)));
  choose("limit", asked.has("memory") ? "memory" : "error");
  for (const [name, id] of Object.entries(FIELDS)) $(id).value = asked.get(name) || DEFAULTS[name];
  $("counting").checked = asked.has("counting");
  $("removing").checked = asked.has("removing");
  return true;
}
function writeAddress() {
  const text = new URLSearchParams(pairs()).toString();
  history.replaceState(null, "", `#${text.replaceAll("%2C", ",")}`);
}
