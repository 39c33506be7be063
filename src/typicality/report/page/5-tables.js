// The tables: clusters, the least typical rows, rows that are searched for, and rows as csv.

// ---- clusters ------------------------------------------------------------------------------------

// All but the sizes belongs to the clusters of the fit; another level shows sizes only.
const FIRST_ROWS = 25;
const fitted = new Map(data.clusters.map((cluster) => [cluster.label, cluster]));
const sorting = { key: "label", sign: 1, all: false };
const COLUMNS = [
  { key: "label", name: detects ? "Rows that are" : "Cluster" },
  { key: "size", name: "Rows", text: ({ size }) => grouped.format(size) },
  { key: "share", name: "Share", text: ({ size }) => percent(size / allCount()) },
  { key: "strength", name: `Mean ${data.strength_name}`, text: ({ strength }) => strengthText(strength) },
  { key: "typical", name: "Most typical row", text: ({ typical }) => (typical >= 0 ? rowText(typical) : "") },
  { key: "level", name: detects ? "Threshold" : "Level", text: ({ level }) => strengthText(level ?? NaN) },
  { key: "separation", name: "Separation", text: ({ separation }) => (separation === null ? "" : format(separation)) },
  { key: "texts", name: "Other columns", plain: true, text: ({ texts }) => texts },
  { key: "profile", name: detects ? "How they differ from the others" : "How it differs", plain: true, text: ({ profile }) => profile },
];

// A column without anything in it is left out, and so is what is only known of the fit.
function columnsShown() {
  const isFilled = (key) => data.clusters.some((cluster) => cluster[key] !== null && cluster[key] !== "" && cluster[key] !== undefined);
  return COLUMNS.filter(({ key }) => ["label", "size", "share"].includes(key) || (state.level === null && isFilled(key)));
}

function drawClusters() {
  const labels = labelsWithRows();
  const columns = columnsShown();
  const value = (entry) => (sorting.key === "share" ? entry.size : entry[sorting.key] ?? -Infinity);
  const entries = labels.map((label) => ({ ...(state.level === null && fitted.get(label)), label, size: state.sizes[label] }));
  entries.sort((a, b) => sorting.sign * (value(a) - value(b)) || a.label - b.label);
  const table = byId("clusters");
  const focused = document.activeElement?.dataset?.sort;
  table.tHead.rows[0].replaceChildren(...columns.map(headCell));
  if (focused) table.querySelector(`[data-sort="${focused}"]`)?.focus();
  table.tBodies[0].replaceChildren(...entries.slice(0, sorting.all ? undefined : FIRST_ROWS).map((entry) => tableRow(entry, columns)));
  const rest = { typical: -1, level: null, separation: null, strength: NaN, ...fitted.get(-1), label: -1, size: unassignedCount() };
  table.tFoot.replaceChildren(...(rest.size > 0 ? [tableRow(rest, columns)] : []));
  table.hidden = labels.length === 0;
  table.classList.toggle("narrow", columns.length === 3);
  const none = detects ? "Every row is an outlier at this threshold. Try a lower one." : "There is no cluster: every row is unassigned.";
  tell("clusters-none", labels.length ? "" : none);
  byId("clusters-now").textContent = clusterWords();
  tell("clusters-words", columns.some(({ key }) => key === "separation") ? `Separation: ${data.separation_words}` : "");
  byId("clusters-more").hidden = entries.length <= FIRST_ROWS;
  byId("clusters-more").textContent = sorting.all ? "Show fewer" : `Show all ${grouped.format(entries.length)} clusters`;
}

function clusterWords() {
  if (state.level === null) return detects || !data.clusters.length ? "" : "Values in the last column are medians.";
  const counts = !state.sizesOfAll ? "Counts refer to the rows shown. " : !state.sizesExact ? "Counts are estimates from the rows shown. " : "";
  return `${counts}Medians are shown for the fitted ${detects ? "threshold" : "clusters"} only.`;
}

function headCell({ key, name, plain }) {
  if (plain) return element("th", { text: name, scope: "col", className: key });
  const order = sorting.key !== key ? "none" : sorting.sign < 0 ? "descending" : "ascending";
  const act = () => {
    sorting.sign = sorting.key === key ? -sorting.sign : ["label", "typical"].includes(key) ? 1 : -1;
    sorting.key = key;
    refresh();
  };
  return element("th", { scope: "col", className: key, "aria-sort": order, children: [button("", [name], act, { "data-sort": key })] });
}

function tableRow(entry, columns) {
  const { label } = entry;
  const name = element("span", { text: detects || label < 0 ? nameOf(label) : String(label) });
  const choose = button("label", [swatch(label), name], () => {}, { "aria-label": `Select ${nameOf(label)}` });
  const [, ...others] = columns.map(({ key, text }) => text && element("td", { text: text(entry), className: key }));
  const head = element("th", { scope: "row", className: "label", children: [choose] });
  const row = element("tr", { children: [head, ...others], "data-label": label });
  row.addEventListener("click", () => selectLabel(label));
  return row;
}

// ---- the least typical rows ----------------------------------------------------------------------

const PAGE = 20;
let outlierPage = 0;
const TELLING = features.length > 1 ? 0.5 : 0; // spreads: a smaller deviation explains nothing
const { index: listedRows, explained, axis: reasonAxes, tenths } = data.outliers;
const farthest = tenths.reduce((most, value) => Math.max(most, Math.abs(value)), 30) / 10;
const placeExplained = explained && new Map(Array.from(explained, (row, place) => [row, place]));

function drawOutliers() {
  const pages = Math.max(1, Math.ceil(listedRows.length / PAGE));
  outlierPage = clamp(outlierPage, 0, pages - 1);
  const first = outlierPage * PAGE;
  const rows = listedRows.subarray(first, first + PAGE);
  byId("outliers").replaceChildren(...Array.from(rows, (row) => element("li", { children: rowCard(row) })));
  byId("outliers").start = first + 1;
  const [from, to, all] = [first + 1, first + rows.length, listedRows.length].map((number) => grouped.format(number));
  byId("outliers-page").textContent = `${from}\u2013${to} of ${all}`;
  byId("outliers-back").disabled = outlierPage === 0;
  byId("outliers-on").disabled = outlierPage >= pages - 1;
  byId("outliers-page").parentElement.hidden = pages === 1;
}

// A row by its name, how rare it is, and why.
function rowCard(row) {
  const label = state.labels[row];
  const name = [swatch(label), element("strong", { text: rowName(row) }), element("span", { text: nameOf(label) })];
  const how = naming.map((cell) => cellText(cell, row)).filter(Boolean);
  if (data.rarity) how.push(`rarer than ${rarityText(row)}`);
  if (data.p_values) how.push(`p-value ${pValueText(row)}`);
  how.push(`${data.strength_name} ${strengthText(data.strength[row])}`);
  return [
    button("outlier-name", name, () => showRow(row), { "data-row": data.row[row] }),
    element("p", { className: "outlier-about", text: how.join(" \u00b7 ") }),
    element("ul", { className: "reasons", children: reasonsOf(row) }),
  ];
}

function reasonsOf(row) {
  const plain = (text) => element("li", { className: "plain", text });
  const place = placeExplained ? placeExplained.get(row) : row;
  if (place === undefined) return [plain(`Reasons are on this page for the ${grouped.format(placeExplained.size)} least typical rows only.`)];
  const reasons = (data.outliers.categories[place] ?? []).map(plain);
  for (let at = 3 * place; at < 3 * place + 3; at++) {
    const axis = data.axes[reasonAxes[at]];
    if (!axis || Math.abs(tenths[at]) < 10 * TELLING) continue;
    const size = Math.abs(tenths[at]) / 10;
    const bar = element("span", { className: tenths[at] < 0 ? "bar low" : "bar", "aria-hidden": "true" });
    bar.style.setProperty("--part", String(Math.sqrt(size / farthest))); // roots: a wild value must not flatten the others
    const text = `${tenths[at] < 0 ? "low (\u2212" : "high (+"}${size >= 1000 ? "over 999" : size.toFixed(size < 10 ? 1 : 0)})`;
    reasons.push(element("li", {
      children: [
        element("span", { className: "reason-name", text: axis.name, title: axis.name }),
        element("span", { className: "reason-value", text: valueText(axis, axis.values[row]) }),
        bar,
        element("span", { className: "reason-words", text }),
      ],
    }));
  }
  return reasons.length ? reasons : [plain("No single column stands out.")];
}

// The row is marked in the scatter, which comes into sight.
function showRow(row) {
  select((other) => other === row, rowName(row).toLowerCase());
  state.found = row;
  scatter.axes.forEach((_, side) => {
    const [low, high] = scatter.view[side];
    const place = scatter.places[side][row];
    if (place < low || place > high) scatter.view[side] = [...scatter.home[side]];
  });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  box.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
}

// ---- search --------------------------------------------------------------------------------------

const MOST_FOUND = 8;
const lowered = data.cells.map((cell) => cell.values.map((text) => text.toLowerCase()));

// Rows by their number first, then by any column of text: equal, then beginning so, then holding it.
function findRows(asked) {
  const text = asked.trim().toLowerCase();
  if (!text) return [];
  const numbered = rowOfNumber.get(Number(text.replace(data.row_word.toLowerCase(), "").trim() || NaN));
  const worth = new Uint8Array(n);
  data.cells.forEach(({ codes }, column) => {
    const fits = lowered[column].map((value) => (value === text ? 3 : value.startsWith(text) ? 2 : value.includes(text) ? 1 : 0));
    codes.forEach((code, row) => { worth[row] = Math.max(worth[row], fits[code]); });
  });
  const byText = Array.from(worth.keys()).filter((row) => worth[row] && row !== numbered).sort((a, b) => worth[b] - worth[a] || a - b);
  return numbered === undefined ? byText : [numbered, ...byText];
}

function showMatches() {
  const asked = byId("find").value;
  const found = findRows(asked);
  const chips = found.slice(0, MOST_FOUND).map((row) => element("li", {
    children: [button("chip", [swatch(state.labels[row]), element("span", { className: "chip-name", text: rowText(row) })], () => showRow(row))],
  }));
  byId("find-list").replaceChildren(...chips);
  const none = asked.trim() ? `No row has this number or holds this text${isSample ? " among the rows shown" : ""}.` : "";
  const more = found.length > chips.length ? `and ${count(found.length - chips.length, "more row")}` : "";
  tell("find-words", found.length ? more : none);
}

function drawFound() {
  byId("found").hidden = state.found < 0;
  byId("found").replaceChildren(...(state.found < 0 ? [] : rowCard(state.found)));
}

// ---- the selection, and rows as csv --------------------------------------------------------------

function drawSelection() {
  const bar = byId("selection");
  bar.dataset.count = String(state.nSelected);
  bar.classList.toggle("empty", state.nSelected === 0);
  byId("selection-words").textContent = `${count(state.nSelected, "row")}${isSample ? " of those shown" : ""} selected: ${state.selectionName}`;
  byId("download").textContent = state.nSelected ? "Download selected rows" : isSample ? "Download rows shown" : "Download rows";
}

// A comma, a quote or a line break must not end a cell.
const csvCell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text);

function download() {
  const own = [...data.cells, ...features].map(({ name }) => name);
  const ours = (name) => (own.includes(name) ? `${name}_new` : name); // names of the data stay
  const lines = [[ours(data.row_word), ...own, ours("label"), ours(data.strength_name)].map(csvCell).join(",")];
  for (let row = 0; row < n; row++) {
    if (state.nSelected && !state.selected[row]) continue;
    const cells = data.cells.map((cell) => csvCell(cellText(cell, row)));
    const values = features.map(({ values }) => exactText(values[row], values instanceof Float64Array));
    lines.push([data.row[row], ...cells, ...values, state.labels[row], data.strength[row]].join(","));
  }
  const stem = data.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "rows";
  const address = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv;charset=utf-8" }));
  element("a", { href: address, download: `${stem}-${state.nSelected ? "selected" : "all"}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser may read the file only after this turn
}

function startTables() {
  byId("clusters-heading").textContent = detects ? "Typical rows and outliers" : "The clusters";
  byId("clusters-more").addEventListener("click", () => { sorting.all = !sorting.all; refresh(); });
  byId("outliers-heading").textContent = data.outlier_heading;
  byId("outliers-words").textContent = data.outlier_words;
  byId("outliers-back").addEventListener("click", () => { outlierPage--; refresh(); });
  byId("outliers-on").addEventListener("click", () => { outlierPage++; refresh(); });
  byId("find").placeholder = [data.row_word, naming[0]?.name ?? (data.cells.length ? "text" : "")].filter(Boolean).join(", ");
  byId("find").addEventListener("input", showMatches);
  byId("find").addEventListener("keydown", (event) => {
    const [first] = event.key === "Enter" ? findRows(byId("find").value) : [];
    if (first !== undefined) showRow(first);
  });
  byId("clear").addEventListener("click", clearSelection);
  byId("download").addEventListener("click", download);
}
