// The words around the plots, and the start of it all.

function answer() {
  const nClusters = labelsWithRows().length;
  const all = allCount();
  const unassigned = unassignedCount();
  const where = state.sizesOfAll ? count(all, "row") : `${count(all, "row")} shown`;
  if (detects) return `${grouped.format(unassigned)} of ${where} ${unassigned === 1 ? "is an outlier" : "are outliers"}.`;
  if (!state.sizesExact) return `${count(nClusters, "cluster")} among the rows shown; of all ${where} about ${grouped.format(unassigned)} ${unassigned === 1 ? "is" : "are"} unassigned.`;
  const rest = unassigned === 0 ? "every row belongs to one" : `${count(unassigned, "row")} ${unassigned === 1 ? "is" : "are"} unassigned`;
  return `${nClusters === 0 ? "No clusters" : count(nClusters, "cluster")} in ${where}; ${rest}.`;
}

const MOST_CHIPS = 24;

function drawLegend() {
  byId("summary").textContent = answer();
  if (paint.choice.values || paint.choice.cell) {
    byId("legend").replaceChildren(...paintLegend());
    return;
  }
  const labels = labelsWithRows();
  const chips = labels.slice(0, MOST_CHIPS).map((label) => chip(label, state.sizes[label]));
  const more = labels.length - MOST_CHIPS;
  if (more > 0) chips.push(element("li", { className: "more", text: `and ${count(more, "more cluster")}` }));
  if (unassignedCount() > 0) chips.push(chip(-1, unassignedCount()));
  byId("legend").replaceChildren(...chips);
}

const chip = (label, size) => legendChip(swatch(label), nameOf(label), size, () => selectLabel(label));

const HOW = {
  tree: [
    "Every row has a typicality between 0 and 1: how much it is like the rows around it. Rows of one cluster hang together through typical rows.",
    "Even empty space has a typicality above 0, and all rows may lie in a narrow range: what counts is their order. So each row is also called \u201crarer than\u201d a share of the rows.",
    "Unassigned rows are in no cluster. They are not errors: rows at the edge of a cluster, or between two, are among them.",
    "A high level keeps the dense cores of clusters; a low one lets them grow until they meet. The histogram shows how many rows a level costs.",
  ],
  memberships: [
    `A number between 0 and 1 says how much a row belongs to each cluster. The histogram shows the ${data.strength_name} of each row.`,
    "Raise the level to keep only the rows that clearly belong to their cluster. The others are then unassigned.",
  ],
  typicality: [
    "Each row has a score: how typical it is of the data as a whole. The lowest scores are the strangest rows; \u201crarer than 99 % of the rows\u201d says the same of a row in words.",
    "A p-value says how often an ordinary row is as untypical as this one: 0.01 means one row in a hundred.",
    "Move the threshold to see how many outliers there would be with another one.",
  ],
};

function writeWords() {
  byId("title").textContent = data.title;
  byId("made-by").textContent = `Made by ${data.made_by}. This page is one file: it loads nothing and sends nothing.`;
  tell("sample-note", data.sample_note);
  tell("axes-note", [data.start_words, data.features_note, data.cells_note].filter(Boolean).join(" "));
  byId("warnings").hidden = data.warnings.length === 0;
  byId("warnings").querySelector("ul").append(...data.warnings.map((text) => element("li", { text })));
  byId("notes").append(...data.notes.flatMap(([head, text]) => [element("dt", { text: head }), element("dd", { text })]));
  const how = [
    ...HOW[data.kind],
    "Numbers in brackets, such as (+2.4), are robust z-scores: how many usual spreads of a column a value is away from the others.",
    "Colour shows any column, also one that took no part. Find a row by its number or by text: it is marked, with the reasons that make it unusual.",
    `${data.row_words} Selected rows can be downloaded, with their labels as they are on this page.`,
  ];
  byId("how").append(...how.map((text) => element("li", { text })));
}

views.set("legend", drawLegend);

writeWords();
startPaint();
startTheme();
startScatter();
startLevel();
startTree();
startClusters();
startOutliers();
startSearch();
startSelection();
refresh("labels");
drawWaiting();
new ResizeObserver(refreshAll).observe(document.querySelector("main"));
document.documentElement.dataset.ready = "true";
