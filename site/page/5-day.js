// Memory through a day: the rate is drawn, and a real filter is fed it.

const STRETCHES = 96;
const SHAPES = {
  city: (hour) => 0.15 + 1.7 * Math.exp(-((hour - 15) ** 2) / 18) + 0.9 * Math.exp(-((hour - 9) ** 2) / 4),
  burst: (hour) => (hour >= 12 && hour < 12.5 ? 8 : 0.6),
  even: () => 1,
  lull: (hour) => (hour < 8 ? 0.2 : hour < 14 ? 1.2 : hour < 17 ? 0 : hour % 1 < 0.25 ? 6 : 0),
};
const day = { rates: [], hour: 48, answer: null, timer: 0 };

// A window by time; if the plan is of another kind, an hour at a thousand a second.
function dayAsked() {
  const timed = chosen("window") === "within";
  const rest = pairs().filter(([name]) => ["error", "counting"].includes(name));
  if (!rest.some(([name]) => name === "error")) rest.push(["error", "0.1%"]);
  return { text: lines([["within", timed ? $("within").value : "1h"], ...rest]), rate: timed ? 10 ** power($("rate-field").value) || 1000 : 1000 };
}

function drawRate() {
  const most = 10;
  const made = chart({
    within: "rate-picture",
    label: `The rate through the day. At ${clock(day.hour)} it is ${shown.number(day.rates[day.hour])} times the stated one. Left and right choose the time, up and down change the rate.`,
    height: 170, xTicks: [0, 6, 12, 18, 24].map((hour) => [hour / 24, `${hour}:00`]), yTicks: [[0, "0"], [0.5, "5×"], [1, "10×"]], xTitle: "", yTitle: "rate", bottom: 26,
  });
  const points = day.rates.flatMap((rate, at) => [[at / STRETCHES, rate / most], [(at + 1) / STRETCHES, rate / most]]);
  made.svg.append(drawn("path", { class: "area", d: `${made.path([[0, 0], ...points, [1, 0]])}Z` }));
  made.svg.append(drawn("line", { class: "cursor", x1: made.x((day.hour + 0.5) / STRETCHES), x2: made.x((day.hour + 0.5) / STRETCHES), y1: made.y(0), y2: made.y(1) }));
  const svg = made.svg;
  svg.id = "rate";
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  const had = document.activeElement?.id === "rate";
  svg.onpointerdown = svg.onpointermove = (event) => {
    if (!event.buttons && event.type !== "pointerdown") return;
    const box = svg.getBoundingClientRect();
    const scale = made.width / box.width;
    const share = ((event.clientX - box.left) * scale - made.x(0)) / (made.x(1) - made.x(0));
    const up = ((event.clientY - box.top) * scale - made.y(0)) / (made.y(1) - made.y(0));
    const at = Math.min(STRETCHES - 1, Math.max(0, Math.floor(share * STRETCHES)));
    // A fast hand skips some: all between get the same.
    const [from, to] = event.type === "pointerdown" ? [at, at] : [Math.min(at, day.hour), Math.max(at, day.hour)];
    for (let i = from; i <= to; i += 1) day.rates[i] = Math.min(most, Math.max(0, up * most));
    day.hour = at;
    drawRate();
    drawDayLater();
  };
  svg.onkeydown = (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 0.25], ArrowDown: [0, -0.25] }[event.key];
    if (!step) return;
    event.preventDefault();
    day.hour = (day.hour + step[0] + STRETCHES) % STRETCHES;
    day.rates[day.hour] = Math.min(most, Math.max(0, day.rates[day.hour] + step[1]));
    $("day-hour").textContent = `${clock(day.hour)}: ${shown.number(day.rates[day.hour])} times the rate`;
    drawRate();
    drawDayLater();
  };
  $("rate-picture").replaceChildren(svg);
  if (had) svg.focus();
}

const clock = (at) => `${Math.floor(at / 4)}:${String((at % 4) * 15).padStart(2, "0")}`;

function drawDayLater() {
  clearTimeout(day.timer);
  day.timer = setTimeout(askDay, 150);
}

async function askDay() {
  const { text, rate } = dayAsked();
  planner.forget("day");
  const answer = await planner.ask("day", "day", text, day.rates.map((times) => times * rate));
  if (answer.error) {
    $("day-note").textContent = answer.error;
    return;
  }
  day.answer = answer;
  drawDay();
}

function drawDay() {
  const { answer } = day;
  if (!answer) return;
  const bytes = answer.points.map(([, bytes]) => bytes);
  const least = answer.points.map(([keys]) => (keys * answer.leastBits) / 8);
  const most = Math.max(answer.fixed ?? 0, ...bytes, 1);
  const made = chart({
    within: "memory-picture",
    label: `Memory through the day: ${answer.structure} takes between ${shown.bytes(Math.min(...bytes))} and ${shown.bytes(Math.max(...bytes))}; a filter of fixed size takes ${shown.bytes(answer.fixed ?? 0)} always.`,
    height: 260, xTicks: [0, 6, 12, 18, 24].map((hour) => [hour / 24, `${hour}:00`]), yTicks: ticks(most, shown.bytes), xTitle: "time of day", yTitle: "memory", left: 72,
  });
  const line = (values, classes) => made.svg.append(drawn("path", { class: classes, d: made.path(values.map((value, at) => [(at + 1) / values.length, value / most])) }));
  if (answer.fixed) line(bytes.map(() => answer.fixed), "fixed");
  line(least, "bound");
  line(bytes, "memory");
  // Names where their lines end, apart from each other.
  let above = Infinity;
  const names = [["least possible", least.at(-1), "label bound-label"], [answer.structure, bytes.at(-1), "label"]];
  if (answer.fixed) names.push(["fixed size", answer.fixed, ""]);
  for (const [name, value, classes] of names.sort((one, other) => one[1] - other[1])) {
    const up = Math.min(made.y(value / most) + 4, above - 14);
    above = up;
    made.svg.append(drawn("text", { x: made.x(1) + 8, y: up, class: classes }, name));
  }
  $("memory-picture").replaceChildren(made.svg);
  const part = answer.scale < 1 ? ` The filter was fed one key in ${shown.number(1 / answer.scale)}, and its memory multiplied.` : "";
  $("day-note").textContent = `Up to ${shown.number(answer.busiest)} keys in the last ${answer.span}. Fixed is a filter for so many keys, planned by somebody who knew it.${part}`;
  document.documentElement.dataset.day = "drawn";
}

function begin(shape) {
  day.rates = Array.from({ length: STRETCHES }, (_, at) => SHAPES[shape](at / 4));
  drawRate();
  drawDayLater();
}
$("shape").onchange = () => begin($("shape").value);
