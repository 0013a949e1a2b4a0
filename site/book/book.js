// Tables sort by their headings; on a phone the list of chapters begins closed.
"use strict";

function valueOf(cell) {
  const text = cell.textContent.trim();
  // The first number counts, with its percent or its thousands; what has none is text.
  const number = /^[^a-zA-Z]*?(-?\d[\d,\u2009]*(?:\.\d+)?(?:e-?\d+)?)/.exec(text);
  return number ? Number(number[1].replace(/[,\u2009]/g, "")) : text.toLowerCase();
}

function compare(one, other) {
  // What is empty comes last, and numbers before words.
  if (one === "" || other === "") return (one === "") - (other === "");
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return typeof one === "number" ? one - other : one.localeCompare(other);
}

for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, at) => {
    const cells = [...body.rows].map((row) => row.cells[at]);
    if (cells.every((cell) => typeof valueOf(cell) === "number" || !cell.textContent.trim())) cells.forEach((cell) => cell.classList.add("number"));
    if (!heading.textContent.trim()) heading.append(Object.assign(document.createElement("span"), { textContent: "–" }));
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [valueOf(row.cells[at]), row]);
      rows.sort(([one], [other]) => (one === "" || other === "" || !down ? compare(one, other) : compare(other, one)));
      body.append(...rows.map(([, row]) => row));
    });
  });
}

if (matchMedia("(max-width: 52rem)").matches) document.querySelector(".chapters details").open = false;
