// The planner beside the page, so that a long answer never stops a slider. The first message is the
// planner itself; every other one is a call.
"use strict";

let works = new Map();

const calls = {
  best: (asked) => JSON.parse(wasm_bindgen.best(asked)),
  plans: (asked) => JSON.parse(wasm_bindgen.plans(asked)),
  least: (asked) => JSON.parse(wasm_bindgen.least(asked)),
  curve: (asked, structure) => JSON.parse(wasm_bindgen.curve(asked, structure)),
  day: (asked, rates) => JSON.parse(wasm_bindgen.day(asked, Float64Array.from(rates))),
  structures: () => JSON.parse(wasm_bindgen.structures()),
  begin: (structure, items, error) => {
    works.get("one")?.free();
    works.delete("one");
    works.set("one", new wasm_bindgen.Work(structure, items, error));
    return look(0);
  },
  come: (keys) => look(works.get("one").come(keys)),
  again: (ago) => look(works.get("one").again(ago)),
  ask: (keys) => look(works.get("one").ask(keys)),
};

// All that is drawn of the filter, and what the step answered.
function look(answer) {
  const work = works.get("one");
  return { answer, told: JSON.parse(work.told()), answers: work.answers(768), bits: work.bits() };
}

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

onmessage = async ({ data }) => {
  if (data.module) {
    const bytes = await unpack(data.module);
    wasm_bindgen.initSync({ module: new WebAssembly.Module(bytes) });
    postMessage({ id: 0, answer: true });
    return;
  }
  const { id, call, words } = data;
  try {
    const begin = performance.now();
    const answer = calls[call](...words);
    postMessage({ id, answer, took: performance.now() - begin });
  } catch (error) {
    postMessage({ id, answer: { error: String(error.message ?? error) } });
    // A trap leaves the planner in an unknown state: it must not pass for an answer.
    if (error instanceof WebAssembly.RuntimeError) throw error;
  }
};
