// Pictures in SVG: axes, lines, and what is said to those who do not see them.

function drawn(name, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// An empty picture with axes. Ticks are pairs of a place between 0 and 1 and a text.
function chart({ label, within, height = 320, left = 62, right = 150, top = 16, bottom = 46, xTicks, yTicks, xTitle, yTitle }) {
  // As wide as there is room, so that letters have the size of letters everywhere.
  const width = Math.max(300, Math.min(1100, $(within).clientWidth || 760));
  if (width < 480) [left, right] = [52, 96];
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const x = (share) => left + share * (width - left - right);
  const y = (share) => height - bottom - share * (height - top - bottom);
  for (const [at, text] of yTicks) {
    svg.append(drawn("line", { class: "grid", x1: x(0), x2: x(1), y1: y(at), y2: y(at) }));
    svg.append(drawn("text", { x: left - 8, y: y(at) + 4, "text-anchor": "end" }, text));
  }
  for (const [at, text] of xTicks) svg.append(drawn("text", { x: x(at), y: height - bottom + 18, "text-anchor": "middle" }, text));
  svg.append(drawn("line", { class: "axis", x1: x(0), x2: x(1), y1: y(0), y2: y(0) }));
  svg.append(drawn("text", { x: (x(0) + x(1)) / 2, y: height - 6, "text-anchor": "middle" }, xTitle));
  svg.append(drawn("text", { x: 14, y: (y(0) + y(1)) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(y(0) + y(1)) / 2})` }, yTitle));
  const path = (points) => points.map(([at, up], i) => `${i ? "L" : "M"}${x(at).toFixed(1)} ${y(up).toFixed(1)}`).join("");
  return { svg, x, y, path, width };
}

// Round numbers up to a largest one, as ticks.
function ticks(most, show) {
  const step = 10 ** Math.floor(Math.log10(most / 2));
  const size = [1, 2, 5, 10].map((times) => times * step).find((size) => most / size <= 5);
  const found = [];
  for (let at = 0; at <= most * 1.0001; at += size) found.push([at / most, show(at)]);
  return found;
}

const picture = { rows: new Map(), least: null, best: null, error: null };

function drawPicture() {
  if (!picture.least) return;
  const FIRST = -0.5, LAST = -6;
  const at = (error) => (Math.log10(error) - FIRST) / (LAST - FIRST);
  const tallest = picture.rows.get(picture.best?.structure)?.at(-1)?.[1] ?? 40;
  const most = Math.max(24, Math.ceil((2 * tallest) / 8) * 8);
  const seen = [...picture.rows].filter(([, points]) => points.some(([, bits]) => bits != null && bits <= most));
  const made = chart({
    within: "chart",
    label: `Bits per item over the error for ${seen.length} structures and the least possible. ` +
      (picture.best ? `The plan, ${picture.best.structure}, takes ${shown.fixed(picture.best.bits, 1)}; the least is ${shown.fixed(picture.best.least, 1)}.` : ""),
    xTicks: ($("chart").clientWidth < 480 ? [-2, -4, -6] : [-1, -2, -3, -4, -5, -6]).map((power) => [at(10 ** power), power < -4 ? `1e−${-power}` : `${100 * 10 ** power}%`]),
    yTicks: ticks(most, (bits) => String(bits)), xTitle: "error: new keys taken for old", yTitle: "bits per item",
  });
  const line = (points, classes, title) => {
    const kept = points.filter(([, bits]) => bits != null && bits <= most).map(([error, bits]) => [at(error), bits / most]);
    const path = drawn("path", { class: classes, d: made.path(kept) });
    path.append(drawn("title", {}, title));
    made.svg.append(path);
    return kept.at(-1);
  };
  const labels = [];
  for (const [name, points] of seen) {
    const best = name === picture.best?.structure;
    const end = line(points, `row${best ? " best" : ""}`, name);
    made.svg.lastChild.dataset.structure = name;
    if (end) labels.push({ name, end, best });
  }
  const end = line(picture.least, "bound", "the least possible");
  labels.push({ name: "least possible", end, bound: true });
  // Names beside the ends of their lines, as long as there is room.
  const taken = [];
  labels.sort((one, other) => Boolean(other.best || other.bound) - Boolean(one.best || one.bound));
  for (const { name, end, best, bound } of labels) {
    const up = made.y(end[1]);
    if (end[0] < 0.98 && !best && !bound || taken.some((other) => Math.abs(other - up) < 13)) continue;
    taken.push(up);
    made.svg.append(drawn("text", { x: made.x(end[0]) + 8, y: up + 4, class: bound ? "label bound-label" : best ? "label" : "" }, name));
  }
  if (picture.best?.bits && picture.error >= 10 ** LAST && picture.best.bits <= most) {
    made.svg.append(drawn("circle", { class: "here", r: 6, cx: made.x(Math.max(0, at(picture.error))), cy: made.y(picture.best.bits / most) }));
  }
  $("chart").replaceChildren(made.svg);
}
