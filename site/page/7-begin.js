// Everything begins.

const structures = planner.ask("work", "structures");

for (const [name, slider] of Object.entries(SLIDERS)) {
  $(`${name}-slide`).addEventListener("input", (event) => {
    $(FIELDS[name]).value = slider.write(Number(event.target.value));
    plan();
  });
}
$("asked").addEventListener("input", (event) => { if (event.target.type !== "range") plan(); });
$("asked").addEventListener("submit", (event) => event.preventDefault());
// Links inside of the page do not replace what is asked.
for (const link of document.querySelectorAll('nav a[href^="#"]')) {
  link.onclick = (event) => {
    event.preventDefault();
    $(link.hash.slice(1)).scrollIntoView();
  };
}
addEventListener("hashchange", () => { if (readAddress()) plan(); });

let resized = 0;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => { drawPicture(); drawRate(); drawDay(); }, 100);
});

readAddress();
drawHead();
plan();
begin("city");
drawLegend();
structures.then((rows) => {
  $("structure").replaceChildren(...rows.map(({ name }) => element("option", {}, name)));
  startWork();
});
