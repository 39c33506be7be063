// Selected rows, and rows as csv.

function drawSelection() {
  const bar = byId("selection");
  bar.dataset.count = String(state.nSelected);
  bar.classList.toggle("empty", state.nSelected === 0);
  byId("selection-words").textContent = state.nSelected
    ? `${count(state.nSelected, "row")}${isSample ? " of those shown" : ""} selected: ${state.selectionName}` : "No rows selected";
  byId("clear").disabled = state.nSelected === 0;
  byId("download").disabled = state.nSelected === 0;
}

// A comma, a quote or a line break must not end a cell.
function csvCell(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
}

// Names of our own give way to those of the data.
function csvHeader() {
  const own = [...data.cells.map((cell) => cell.name), ...features.map((axis) => axis.name)];
  const ours = (name) => (own.includes(name) ? `${name}_new` : name);
  return [ours(data.row_word), ...own, ours("label"), ours(data.strength_name)];
}

function csvOf(isWanted) {
  const lines = [csvHeader().map(csvCell).join(",")];
  for (let i = 0; i < n; i++) {
    if (!isWanted(i)) continue;
    const cells = data.cells.map((cell) => csvCell(cell.values[cell.codes[i]] ?? ""));
    const values = features.map((axis) => exactText(axis.values[i], axis.values instanceof Float64Array));
    lines.push([data.row[i], ...cells, ...values, state.labels[i], data.strength[i]].join(","));
  }
  return `${lines.join("\n")}\n`;
}

function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = element("a", { href: address, download: name });
  link.click();
  // The browser may read the file only after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function fileName(part) {
  const stem = data.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "rows";
  return `${stem}-${part}.csv`;
}

function startSelection() {
  byId("clear").addEventListener("click", clearSelection);
  byId("download").addEventListener("click", () => download(csvOf((i) => state.selected[i]), fileName("selected")));
  byId("download-all").addEventListener("click", () => download(csvOf(() => true), fileName("all")));
  if (isSample) byId("download-all").textContent = "Download the rows shown as csv";
}

views.set("selection", drawSelection);
