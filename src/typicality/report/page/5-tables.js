// The tables: clusters, the least typical rows, rows that are searched for, and rows as csv.

// ---- clusters

// Another level than that of the fit shows sizes only.
const FIRST_ROWS = 50;
const fitted = new Map(data.clusters.map((cluster) => [cluster.label, cluster]));

function drawClusters() {
  const ofFit = state.level === null;
  const heads = [["label", detects ? "Rows that are" : "Cluster"], ["size", "Rows"], ["share", "Share"]];
  if (ofFit) heads.push(...data.cluster_columns.map(({ key, name }) => [key, name]));
  const table = byId("clusters");
  table.tHead.rows[0].replaceChildren(...heads.map(([key, text]) => element("th", { text, scope: "col", className: key })));
  const labels = labelsWithRows();
  const first = labels.slice(0, FIRST_ROWS);
  if (unassignedCount() > 0) first.push(-1);
  table.tBodies[0].replaceChildren(...first.map((label) => tableRow(label, heads)));
  byId("clusters-now").textContent = [
    labels.length > FIRST_ROWS && `The first ${FIRST_ROWS} of ${count(labels.length, "cluster")}.`,
    !ofFit && "Sizes only: other columns are known of the fit.",
  ].filter(Boolean).join(" ");
  tell("clusters-words", ofFit && !detects && `How it differs: medians. ${data.separation_words ?? ""}`);
  byId("clusters-copy").hidden = !ofFit;
}

function tableRow(label, heads) {
  const size = label < 0 ? unassignedCount() : state.sizes[label];
  const texts = [grouped.format(size), percent(size / allCount(), Math.min(allCount(), 9999)), ...(fitted.get(label)?.cells ?? [])];
  const head = element("th", { scope: "row", className: "label", children: [swatch(label), ` ${detects || label < 0 ? nameOf(label) : label}`] });
  const cells = heads.slice(1).map(([key], place) => element("td", { text: texts[place], className: key }));
  const row = element("tr", { children: [head, ...cells], "data-label": label, tabindex: "0" });
  row.addEventListener("click", () => { if (getSelection().isCollapsed) selectLabel(label); }); // text can be marked
  row.addEventListener("keydown", (event) => { if (event.key === "Enter") selectLabel(label); });
  return row;
}

// The event of copying needs no permission, also in a frame of a notebook.
function copyClusters() {
  const give = (event) => {
    event.clipboardData.setData("text/plain", data.cluster_sheet);
    event.preventDefault();
  };
  document.addEventListener("copy", give, { once: true });
  const done = document.execCommand("copy");
  document.removeEventListener("copy", give);
  byId("clusters-copy").textContent = done ? "Copied" : "Copying is not allowed here";
  setTimeout(() => { byId("clusters-copy").textContent = "Copy for a spreadsheet"; }, 2000);
}

// ---- the least typical rows

const PAGE = 20;
let nListed = PAGE;
const { index, n_listed: nWorst } = data.outliers;
const farthest = data.outliers.reasons.flat().reduce((most, [, , deviation = 0]) => Math.max(most, Math.abs(deviation)), 3);
const placeExplained = new Map(Array.from(index, (row, place) => [row, place]));

function drawOutliers() {
  byId("outliers-words").textContent = data.outlier_words;
  byId("outliers").replaceChildren(...Array.from(index.subarray(0, Math.min(nListed, nWorst)), (row) => element("li", { children: rowCard(row) })));
  byId("outliers-more").hidden = nListed >= nWorst;
  byId("outliers-more").textContent = `Show more of ${count(nWorst, "row")}`;
}

// A row by its name, how rare it is, and why.
function rowCard(row) {
  const label = state.labels[row];
  const name = [swatch(label), element("strong", { text: rowName(row) }), element("span", { text: nameOf(label) })];
  const how = naming.map((cell) => cellText(cell, row)).filter(Boolean);
  if (data.rarity) how.push(`rarer than ${rarityText(row)}`);
  how.push(`${data.strength_name} ${strengthText(data.strength[row])}`);
  return [
    button("outlier-name", name, () => showRow(row), { "data-row": data.row[row] }),
    element("p", { className: "outlier-about", text: how.join(" \u00b7 ") }),
    element("ul", { className: "reasons", children: reasonsOf(row) }),
  ];
}

function reasonsOf(row) {
  const plain = (text) => element("li", { className: "plain", text });
  const reasons = data.outliers.reasons[placeExplained.get(row)];
  if (!reasons) return [plain(`Reasons are on this page for the ${grouped.format(placeExplained.size)} least typical rows only.`)];
  if (!reasons.length) return [plain("No single column stands out.")];
  return reasons.map(([name, value, deviation]) => {
    if (value === undefined) return plain(name); // a category
    const size = Math.abs(deviation);
    const bar = element("span", { className: deviation < 0 ? "bar low" : "bar", "aria-hidden": "true" });
    bar.style.setProperty("--part", String(Math.sqrt(size / farthest))); // roots: a wild value must not flatten the others
    const text = `${deviation < 0 ? "low (\u2212" : "high (+"}${size.toFixed(size < 10 ? 1 : 0)})`;
    return element("li", {
      children: [
        element("span", { className: "reason-name", text: name, title: name }),
        element("span", { className: "reason-value", text: value }),
        bar,
        element("span", { className: "reason-words", text }),
      ],
    });
  });
}

function showRow(row) {
  select((other) => other === row, rowName(row).toLowerCase());
  state.found = row;
  const isSeen = scatter.view.every(([low, high], side) => !(scatter.places[side][row] < low || scatter.places[side][row] > high));
  if (!isSeen) showAll();
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  box.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
}

// ---- search

const MOST_FOUND = 8;
const lowered = data.cells.map((cell) => cell.values.map((text) => text.toLowerCase()));

// Rows by their number first, then by any column of text: equal, then holding it.
function findRows(asked) {
  const text = asked.trim().toLowerCase();
  if (!text) return [];
  const number = Number(text.replace(data.row_word.toLowerCase(), "").trim() || NaN);
  const fits = lowered.map((values) => values.map((value) => (value === text ? 2 : Number(value.includes(text)))));
  const worth = (row) => (data.row[row] === number ? 3 : Math.max(0, ...data.cells.map(({ codes }, column) => fits[column][codes[row]])));
  return Array.from(data.row, (_, row) => [row, worth(row)]).filter(([, one]) => one).sort((a, b) => b[1] - a[1]).map(([row]) => row);
}

function showMatches() {
  const asked = byId("find").value;
  const found = findRows(asked);
  const chips = found.slice(0, MOST_FOUND).map((row) => element("li", {
    children: [button("chip", [swatch(state.labels[row]), element("span", { className: "chip-name", text: rowText(row) })], () => showRow(row))],
  }));
  byId("find-list").replaceChildren(...chips);
  const none = asked.trim() && `No row${isSample ? " shown" : ""} has this number or holds this text.`;
  const more = found.length > chips.length ? `and ${count(found.length - chips.length, "more row")}` : "";
  tell("find-words", found.length ? more : none);
}

function drawFound() {
  byId("found").hidden = state.found < 0;
  byId("found").replaceChildren(...(state.found < 0 ? [] : rowCard(state.found)));
}

// ---- the selection, and rows as csv

function drawSelection() {
  const bar = byId("selection");
  bar.dataset.count = String(state.nSelected);
  bar.classList.toggle("empty", state.nSelected === 0);
  byId("selection-words").textContent = `${count(state.nSelected, "row")}${isSample ? " of those shown" : ""} selected: ${state.selectionName}`;
  byId("download").textContent = state.nSelected ? "Download selected rows" : isSample ? "Download rows shown" : "Download rows";
}

// A comma, a quote or a line break must not end a cell.
const csvCell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text);

// A number of 32 bits has seven digits: 5.1, not 5.099999904632568.
const csvNumber = (axis, value) => (Number.isFinite(value) ? String(isDouble(axis) ? value : Number(value.toPrecision(7))) : "");

function download() {
  const own = [...data.cells, ...features].map(({ name }) => name);
  const ours = (name) => (own.includes(name) ? `${name}_new` : name);
  const lines = [[ours(data.row_word), ...own, ours("label"), ours(data.strength_name)].map(csvCell).join(",")];
  for (let row = 0; row < n; row++) {
    if (state.nSelected && !state.selected[row]) continue;
    const cells = data.cells.map((cell) => csvCell(cellText(cell, row)));
    const values = features.map((axis) => csvNumber(axis, axis.values[row]));
    lines.push([data.row[row], ...cells, ...values, state.labels[row], data.strength[row]].join(","));
  }
  const stem = data.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "rows";
  const address = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv;charset=utf-8" }));
  element("a", { href: address, download: `${stem}-${state.nSelected ? "selected" : "all"}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser may read the file only after this turn
}

function startTables() {
  byId("clusters-heading").textContent = detects ? "Typical rows and outliers" : "The clusters";
  on("clusters-copy", "click", copyClusters);
  byId("outliers-heading").textContent = data.outlier_heading;
  on("outliers-more", "click", () => { nListed += PAGE; refresh(); });
  byId("find").placeholder = [data.row_word, naming[0]?.name ?? (data.cells.length ? "text" : "")].filter(Boolean).join(", ");
  on("find", "input", showMatches);
  on("find", "keydown", (event) => {
    const [first] = event.key === "Enter" ? findRows(byId("find").value) : [];
    if (first !== undefined) showRow(first);
  });
  on("clear", "click", clearSelection);
  on("download", "click", download);
}
