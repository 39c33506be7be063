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

const HOW = {
  tree: [
    "Every row has a typicality between 0 and 1: how dense the data are around it. Typical rows connect the rows of a cluster.",
    "Only the order of typicalities matters: they may all lie in a narrow range, and even empty space has a typicality above 0. So the page also shows \u201crarer than\u201d, the share of rows that are more typical.",
    "Unassigned rows are in no cluster. They are not errors: many of them lie at the edge of a cluster or between two.",
    "A high level keeps only the dense cores of clusters; at a low level clusters grow until they meet. The histogram shows how many rows lie below a level.",
  ],
  memberships: [
    `Every row has a membership between 0 and 1 in each cluster. The histogram shows the ${data.strength_name} of each row.`,
    "Raise the level to keep only the rows that clearly belong to their cluster. The others are then unassigned.",
  ],
  typicality: [
    "Each row has a score: how typical it is of the data as a whole. Rows with the lowest scores are the most unusual. \u201cRarer than 99 %\u201d means that 99 % of the rows have a higher score.",
    "A p-value is the share of ordinary rows that are as untypical as this one: 0.01 means one row in a hundred.",
    "Move the threshold to see how the number of outliers changes.",
  ],
};

function writeWords() {
  byId("title").textContent = data.title;
  byId("made-by").textContent = `Made by ${data.made_by}. This page is one file: it loads nothing and sends nothing.`;
  tell("sample-note", data.sample_note);
  tell("axes-note", data.axes_note);
  byId("warnings").hidden = data.warnings.length === 0;
  byId("warnings").querySelector("ul").append(...data.warnings.map((text) => element("li", { text })));
  byId("notes").append(...data.notes.flatMap(([head, text]) => [element("dt", { text: head }), element("dd", { text })]));
  const how = [
    ...HOW[data.kind],
    "Numbers in brackets, such as (+2.4), are robust z-scores: how many usual spreads of a column a value is away from the others.",
    "Colour can show any column, also one that was not used. Find a row by its number or by text: the page marks it and shows why it is unusual.",
    ...(data.axes.some(({ step }) => step) ? ["Rows of a column with few different values are drawn in a strip around each value, so that they do not cover each other. Only the drawing does this."] : []),
    `${data.row_words} Rows can be downloaded with their labels as they are on this page: all, or those selected.`,
  ];
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
