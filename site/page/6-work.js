// A filter at work: what it says of every recent key, and every bit that it stores.

const AGAIN = 255;
const SHOWN = 768;
const IDEAS = {
  "sliding": "Naor and Yogev: a fingerprint of each key is kept with the generation in which it came. Colours are generations. When the last one is over, its number is given to new keys, and what still has it is swept out, a few places with every insertion. That is why some keys are reported a little longer than the window.",
  "sliding-compact": "The same idea in fewer bits: blocks that are full spill into the next one.",
  "age-partitioned": "Slices by age: each new key is written to the youngest few, and a key is seen if some run of neighbouring slices has it. When the youngest is full, the oldest is emptied and becomes the youngest.",
  "time-limited": "Slices by age again, but the clock turns them, and new ones are made when more keys come.",
  "timed": "Fingerprints with the moment they came, in segments that split when they fill and merge when they empty: memory follows the rate.",
  "growing": "Pagh, Segev and Wieder: signatures get a bit longer each time the set doubles, so that the error never grows. Nothing is forgotten.",
  "growing-tails": "Pagh, Segev and Wieder as one dictionary that doubles at once.",
  "growing-layers": "Their plain construction: a stack of Bloom filters, each with half the error of the one before.",
  "spectral": "Cohen and Matias: counters instead of bits; the smallest of a key's counters is its count.",
  "double-buffer": "Two Bloom filters: when the younger is full, the older is cleared. Everything up to twice the window is reported.",
  "quotient-table": "Géraud-Stewart, Lombard-Platet and Naccache: buckets of short fingerprints in a given memory; a new one pushes out an old one. Some keys of the window are forgotten.",
};
const work = { bits: null, running: 0, last: null, noted: "" };
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function shades() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return Array.from({ length: 8 }, (_, at) => `hsl(${178 - 9 * (at % 8)} ${dark ? 38 : 45}% ${dark ? 62 - 4 * at : 34 + 5 * at}%)`);
}

function drawWork({ told, answers, bits }) {
  const canvas = $("keys").getContext("2d");
  const size = 12, across = SHOWN / size;
  const tones = shades();
  canvas.clearRect(0, 0, 768, 216);
  let inside = 0, forgotten = 0, late = 0, mistaken = 0;
  answers.forEach((answer, at) => {
    const [x, y] = [(at % across) * size, Math.floor(at / across) * 18];
    if (answer === AGAIN) return;
    const kept = told.window == null || at < told.window;
    const allowed = told.slack != null && at < told.window + told.slack;
    if (kept) inside += 1;
    if (!answer) {
      if (kept) {
        forgotten += 1;
        canvas.strokeStyle = color("--bad");
        canvas.lineWidth = 2;
        canvas.strokeRect(x + 2, y + 3, size - 4, 12);
      }
      return;
    }
    if (!kept && allowed) late += 1;
    if (!kept && !allowed && told.slack != null) mistaken += 1;
    canvas.fillStyle = kept ? tones[(answer - 1) % 8] : allowed || told.slack == null ? color("--other") : color("--warn");
    canvas.fillRect(x + 1, y + 2, size - 2, 14);
  });
  if (told.window != null) {
    const [x, y] = [(told.window % across) * size, Math.floor(told.window / across) * 18];
    canvas.fillStyle = color("--ink");
    canvas.fillRect(x - 1, y, 2, 18);
  }
  drawBits(bits);
  const promise = `${told.promise[0].toUpperCase()}${told.promise.slice(1)}.`;
  const said = told.asked ? ` Of ${shown.number(told.asked, 6)} keys that never came it took ${shown.number(told.mistaken, 6)} for seen: ${shown.share(told.mistaken / told.asked)}; promised is at most ${shown.share(told.promised)}.` : "";
  const gone = forgotten ? ` It forgot ${forgotten} of the window.` : "";
  const longer = late ? ` ${late} older ones are still reported.` : "";
  const text = `${shown.number(told.came, 6)} keys came; it takes ${shown.bytes(told.bytes)}.${gone}${longer}${mistaken ? ` ${mistaken} of those long gone are reported by mistake.` : ""}${said}`;
  $("status").textContent = `${work.noted} ${text} ${promise}`.trim();
  $("keys").setAttribute("aria-label", `Of ${inside} keys in the window it reports ${inside - forgotten}; ${late} older ones are reported still, ${mistaken} by mistake.`);
  work.last = { told, answers, bits };
}

function drawBits(bits) {
  const canvas = $("bits");
  const count = bits.length * 8;
  const across = Math.max(64, Math.ceil(Math.sqrt(count * 1.7) / 8) * 8);
  const down = Math.max(1, Math.ceil(count / across));
  canvas.width = across;
  canvas.height = down;
  const context = canvas.getContext("2d");
  const rgb = (name) => [1, 3, 5].map((at) => parseInt(color(name).slice(at, at + 2), 16)).concat(255);
  const [set, clear, fresh] = ["--accent", "--faint", "--bound"].map(rgb);
  const image = context.createImageData(across, down);
  const same = work.bits?.length === bits.length;
  for (let at = 0; at < count; at += 1) {
    const bit = (bits[at >> 3] >> (at & 7)) & 1;
    const before = same ? (work.bits[at >> 3] >> (at & 7)) & 1 : bit;
    image.data.set(bit !== before ? fresh : bit ? set : clear, 4 * at);
  }
  context.putImageData(image, 0, 0);
  const ones = bits.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  canvas.setAttribute("aria-label", `${shown.number(count, 6)} bits, of which ${shown.share(ones / count)} are set`);
  work.bits = bits;
}

async function act(call, ...words) {
  const seen = await planner.ask("work", call, ...words);
  if (seen.error) {
    $("status").textContent = seen.error;
    return null;
  }
  if (call === "come") work.noted = seen.answer ? `${seen.answer} of the new keys ${seen.answer > 1 ? "were" : "was"} taken for a repeat: a false positive.` : "";
  if (call === "again") work.noted = seen.answer ? "A key came again, and it knew." : "A key came again, and it took it for new.";
  if (call === "ask") work.noted = "";
  drawWork(seen);
  return seen;
}

async function startWork() {
  work.bits = null;
  work.noted = "";
  const name = $("structure").value;
  const { strength } = (await structures).find((row) => row.name === name);
  $("idea").textContent = IDEAS[name] ?? `${strength[0].toUpperCase()}${strength.slice(1)}.`;
  if (await act("begin", name, 256, Number($("work-error").value))) {
    // All of it is new: nothing is to stand out.
    work.bits = null;
    await act("come", 320);
  }
  document.documentElement.dataset.work = name;
}

async function run() {
  const on = !work.running;
  $("run").setAttribute("aria-pressed", String(on));
  $("run").textContent = on ? "Pause" : "Run";
  // Changes every step: nobody wants them all read out.
  $("status").setAttribute("aria-live", on ? "off" : "polite");
  work.running = on ? 1 : 0;
  while (work.running) {
    if (!(await act("come", 4))) break;
    await new Promise((go) => setTimeout(go, 120));
  }
}

$("one").onclick = () => act("come", 1);
$("many").onclick = () => act("come", 64);
$("again").onclick = () => act("again", 40);
$("ask").onclick = () => act("ask", 1000);
$("restart").onclick = $("structure").onchange = $("work-error").onchange = startWork;
$("run").onclick = run;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawLegend(); if (work.last) drawWork(work.last); });

function drawLegend() {
  const entry = (style, text) => element("li", {}, element("i", { style }), text);
  const tones = shades();
  $("legend").replaceChildren(
    entry(`background:linear-gradient(90deg, ${tones[0]} 50%, ${tones[4]} 50%)`, "in the window, by generation"),
    entry(`background:${color("--other")}`, "older, and reported still"),
    entry(`background:${color("--warn")}`, "reported by mistake"),
    entry(`border:2px solid ${color("--bad")}`, "forgotten"),
    entry(`background:${color("--faint")}`, "not reported"),
  );
}
