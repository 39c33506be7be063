// Light and dark, the words around the plots, and the start of it all.

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");
let chosenTheme = null; // null: as the system says

function applyTheme() {
  const wanted = chosenTheme ?? (prefersDark.matches ? "dark" : "light");
  const theme = printing.matches ? "light" : wanted;
  document.documentElement.dataset.theme = theme;
  const css = getComputedStyle(document.documentElement);
  Object.assign(ink, { hues: HUES[theme], ramp: RAMPS[theme] });
  for (const [key, name] of Object.entries({ unassigned: "unassigned", paper: "panel", line: "grid", text: "ink", faint: "soft", accent: "accent" })) {
    ink[key] = css.getPropertyValue(`--${name}`).trim();
  }
  const other = wanted === "dark" ? "Light" : "Dark";
  byId("theme").textContent = other;
  byId("theme").setAttribute("aria-label", `Switch to ${other.toLowerCase()} colours`);
  refresh();
}

function writeWords() {
  byId("title").textContent = data.title;
  byId("made-by").textContent = `Made by ${data.made_by}. This page is one file: it loads nothing and sends nothing.`;
  tell("sample-note", data.sample_note);
  tell("axes-note", data.axes_note);
  byId("warnings").hidden = data.warnings.length === 0;
  byId("warnings").querySelector("ul").append(...data.warnings.map((text) => element("li", { text })));
  byId("notes").append(...data.notes.flatMap(([head, text]) => [element("dt", { text: head }), element("dd", { text })]));
  const how = [
    data.rarity && "\u201cRarer than 99 %\u201d means that 99 % of the rows are more typical.",
    "Numbers in brackets, such as (+2.4), are robust z-scores: how many usual spreads of a column a value is away from the others.",
    "Colour can show any column, also one that was not used. Find a row by its number or by text to see why it is unusual.",
    data.axes.some(({ step }) => step) && "Rows of a column with few different values are drawn in a strip around each value, so that they do not cover each other.",
    data.row_words,
  ].filter(Boolean);
  byId("how").append(...how.map((text) => element("li", { text })));
  byId("how-panel").open = innerWidth > 700; // on a phone it would fill the first screen
}

relabel();
writeWords();
startScatter();
startLevel();
startTables();
on("theme", "click", () => {
  chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  applyTheme();
});
prefersDark.addEventListener("change", applyTheme);
printing.addEventListener("change", () => { applyTheme(); draw(); }); // printing does not wait for a frame
applyTheme();
draw();
new ResizeObserver(refresh).observe(document.querySelector("main"));
document.documentElement.dataset.ready = "true";
