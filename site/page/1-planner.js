// Questions to the planner: one at a time, the newest of each kind, the most urgent kind first.
"use strict";

const $ = (id) => document.getElementById(id);

const planner = (() => {
  const glue = $("worker").textContent;
  const worker = new Worker(URL.createObjectURL(new Blob([glue], { type: "text/javascript" })));
  const urgency = ["best", "work", "plans", "picture", "day"];
  const waiting = new Map();
  let busy = { heard: () => {} };
  let last = 0;

  function next() {
    const kind = urgency.find((kind) => waiting.get(kind)?.length);
    if (!kind) return (busy = null);
    busy = waiting.get(kind).shift();
    worker.postMessage({ id: ++last, call: busy.call, words: busy.words });
  }
  worker.onmessage = ({ data }) => {
    const { heard } = busy;
    if (data.took !== undefined) document.documentElement.dataset[`took${busy.call}`] = data.took.toFixed(1);
    heard(data.answer);
    next();
  };
  worker.onerror = (event) => {
    $("answer").replaceChildren(element("p", { class: "error" }, `The planner stopped: ${event.message}. Load the page again.`));
  };
  worker.postMessage({ module: $("module").textContent });

  return {
    // What was asked of this kind and is not yet begun is forgotten.
    forget: (kind) => waiting.set(kind, []),
    ask: (kind, call, ...words) =>
      new Promise((heard) => {
        if (!waiting.has(kind)) waiting.set(kind, []);
        waiting.get(kind).push({ call, words, heard });
        if (!busy) next();
      }),
  };
})();

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Numbers as people read them.
const shown = {
  number: (value, digits = 3) => Number(value).toLocaleString("en", { maximumSignificantDigits: digits }),
  fixed: (value, digits) => (value == null ? "–" : value.toFixed(digits)),
  share: (value) => {
    if (!value) return "0%";
    return value < 1e-5 ? value.toExponential(1).replace("e-", "e−") : `${shown.number(100 * value)}%`;
  },
  bytes: (value) => {
    const units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let at = 0;
    while (value >= 999.5 && at < units.length - 1) { value /= 1000; at += 1; }
    return `${shown.number(value)} ${units[at]}`;
  },
};
