// The table of clusters, recomputed whenever the level moves.

const FIRST_ROWS = 25;
const FEW = 5; // rows, of which one may make the mean
const table = { sort: "number", falling: false, all: false, profiles: new Map(), profilesOf: "", timer: 0 };
const fitted = new Map(data.clusters.map((cluster) => [cluster.label, cluster]));

const COLUMNS = [
  { key: "number", name: detects ? "Rows that are" : "Cluster", first: false },
  { key: "size", name: "Rows", first: true },
  { key: "share", name: "Share", first: true },
  { key: "strength", name: `Mean ${data.strength_name}`, first: true },
  { key: "typical", name: "Most typical row", first: false },
  { key: "level", name: detects ? "Threshold" : "Level", first: true, known: () => known("level") },
  { key: "separation", name: "Separation", first: true, known: () => known("separation") },
  { key: "texts", name: "Other columns", sorts: false, known: () => counted.length > 0 },
  { key: "profile", name: detects ? "How they differ from the others" : "How it differs", sorts: false },
];

// Columns of text that took no part, where they have few values.
const MOST_VALUES = 20;
const counted = data.cells
  .filter((cell) => cell.values.length >= 2 && cell.values.length <= Math.min(MOST_VALUES, n / 2))
  .filter((cell) => !data.category_columns.includes(cell.name)).slice(0, 2);
const rowOfNumber = new Map(Array.from(data.row, (number, i) => [number, i]));

// Levels and separations belong to the clusters of the fit.
const known = (key) => state.level === null && data.clusters.some((cluster) => Number.isFinite(cluster[key]));

function entries() {
  const { shown, strength, best } = state.summary;
  return labelsWithRows().map((label) => {
    const fit = state.level === null ? fitted.get(label) : undefined;
    return {
      number: label,
      size: state.sizes[label],
      share: state.sizes[label] / allCount(),
      strength: strength[label] / shown[label],
      typical: fit ? fit.typical_row : data.row[best[label]] ?? NaN,
      level: fit?.level ?? NaN,
      separation: fit?.separation ?? NaN,
    };
  });
}

function drawClusters() {
  const nClusters = labelsWithRows().length;
  const columns = COLUMNS.filter((column) => !column.known || column.known());
  const listed = sorted(entries());
  const shown = table.all ? listed : listed.slice(0, FIRST_ROWS);
  drawHead(columns);
  byId("clusters").tBodies[0].replaceChildren(...shown.map((entry) => tableRow(entry, columns)));
  byId("clusters").tFoot.replaceChildren(...unassignedRow(columns));
  byId("clusters").hidden = nClusters === 0;
  tell("clusters-none", nClusters === 0 ? noneWords() : "");
  byId("clusters-now").textContent = sampleWords();
  tell("clusters-words", known("separation") && data.separation_words ? `Separation: ${data.separation_words}` : "");
  byId("clusters-more").hidden = listed.length <= FIRST_ROWS;
  byId("clusters-more").textContent = table.all ? "Show fewer" : `Show all ${grouped.format(listed.length)} clusters`;
  planProfiles();
}

function noneWords() {
  if (detects) return "Every row is an outlier at this threshold. Try a lower one.";
  if (state.level === null) return "No cluster was found: every row is unassigned.";
  if (data.kind === "tree" && state.minSize > 1) return "There is no cluster of that size at this level: every row is unassigned. Try another level, or a smaller cluster.";
  return "There is no cluster at this level: every row is unassigned. Try a lower one.";
}

// What a page that shows some of the rows cannot know exactly.
function sampleWords() {
  const values = detects || data.clusters.length === 0 ? "" : `Values in the last column are ${state.level === null ? "medians" : "means"}.`;
  return [values, countWords()].filter(Boolean).join(" ");
}

function countWords() {
  if (!isSample) return "";
  if (!state.sizesOfAll) return "Counts and means refer to the rows shown.";
  if (state.sizesExact) return "Means are of the rows shown.";
  return "At this level counts are estimates from the rows shown; clusters without any of these rows are missing.";
}

function sorted(list) {
  const sign = table.falling ? -1 : 1;
  return list.sort((a, b) => sign * (a[table.sort] - b[table.sort]) || a.number - b.number);
}

function drawHead(columns) {
  const cells = columns.map(({ key, name, first, sorts = true }) => {
    if (!sorts) return element("th", { text: name, scope: "col", className: key });
    const active = table.sort === key;
    const button = element("button", { text: name, type: "button", "data-sort": key });
    button.addEventListener("click", () => sortBy(key, first));
    const order = !active ? "none" : table.falling ? "descending" : "ascending";
    return element("th", { scope: "col", className: key, "aria-sort": order, children: [button] });
  });
  const head = byId("clusters").tHead.rows[0];
  const focused = document.activeElement?.dataset?.sort;
  head.replaceChildren(...cells);
  if (focused) head.querySelector(`[data-sort="${focused}"]`)?.focus();
}

function sortBy(key, firstFalling) {
  table.falling = table.sort === key ? !table.falling : firstFalling;
  table.sort = key;
  refresh("clusters");
}

function tableRow(entry, columns) {
  const label = entry.number;
  const texts = {
    size: grouped.format(entry.size),
    share: percent(entry.share),
    strength: strengthText(entry.strength),
    typical: Number.isNaN(entry.typical) ? "" : typicalText(entry.typical),
    texts: textWords(label),
    level: strengthText(entry.level),
    separation: Number.isNaN(entry.separation) ? "" : format(entry.separation),
    profile: profileWords(label),
  };
  const cells = columns.map(({ key }) => (key === "number"
    ? element("th", { scope: "row", className: key, children: [labelButton(label)] })
    : element("td", { text: texts[key], className: key })));
  const row = element("tr", { children: cells, "data-label": label });
  row.addEventListener("click", () => selectLabel(label));
  return row;
}

// A row by its number, and by what its first column of text says.
function typicalText(number) {
  const row = rowOfNumber.get(number);
  const cell = naming[0];
  const name = cell && row !== undefined ? cell.values[cell.codes[row]] : "";
  return [`${data.row_word} ${number}`, name].filter(Boolean).join(" \u00b7 ");
}

// The most frequent value of each of those columns among the rows of a label.
function textWords(label) {
  return counted.map(({ name, values, codes }) => {
    const times = new Int32Array(values.length);
    for (let i = 0; i < n; i++) if (state.labels[i] === label) times[codes[i]]++;
    const all = times.reduce((sum, one) => sum + one, 0);
    const most = times.indexOf(Math.max(...times));
    return all ? `${name}: ${values[most] || "(empty)"} (${grouped.format(times[most])} of ${grouped.format(all)})` : "";
  }).filter(Boolean).join("; ");
}

function labelButton(label) {
  const text = detects ? nameOf(label) : label < 0 ? "unassigned" : String(label);
  const button = element("button", { type: "button", className: "label", children: [swatch(label), element("span", { text })] });
  button.setAttribute("aria-label", `Select ${nameOf(label)}`);
  return button;
}

function unassignedRow(columns) {
  const { nClusters, shown, strength } = state.summary;
  if (unassignedCount() <= 0) return [];
  const entry = { number: -1, size: unassignedCount(), share: unassignedCount() / allCount(), strength: strength[nClusters] / shown[nClusters], typical: NaN, level: NaN, separation: NaN };
  return [tableRow(entry, columns)];
}

// ---- what sets a cluster apart, in words ---------------------------------------------------------

function profileWords(label) {
  const known = state.level === null ? fitted.get(label) : undefined;
  const profile = state.level === null ? known?.profile : table.profiles.get(label);
  if (!profile) return "";
  const telling = profile.filter(({ deviations }) => Math.abs(deviations) >= TELLING)
    .map((item) => `${data.axes[item.axis].name} ${againstWords(item)}`);
  return [...telling, ...(known?.categories ?? [])].join(", ") || "No single column stands out.";
}

// In the units of the file: medians for the clusters of the fit, means once the level has moved.
function againstWords({ axis, median, mean, elsewhere, rest, deviations }) {
  const [own, others] = median === undefined ? [mean, rest] : [median, elsewhere];
  if (!Number.isFinite(own) || !Number.isFinite(others)) return deviationWords(deviations);
  return `${valueText(axis, own)} against ${valueText(axis, others)} elsewhere (${deviationText(deviations)})`;
}

// Means of all features take longer than a frame has: they follow when the level rests.
function planProfiles() {
  const key = `${state.level} ${state.minSize}`;
  if (state.level === null || key === table.profilesOf) return;
  table.profiles.clear();
  clearTimeout(table.timer);
  table.timer = setTimeout(() => {
    table.profilesOf = key;
    table.profiles = computeProfiles();
    refresh("clusters");
  }, 180);
}

// The mean of a cluster less that of the rows of the other clusters, in units of the spread; less that
// of the unassigned rows where there is no other cluster.
function computeProfiles() {
  const { nClusters, shown } = state.summary;
  const listed = Math.min(nClusters, 200);
  const found = Array.from({ length: listed }, () => []);
  if (nClusters === 1 && shown[1] < FEW) return new Map([[0, []]]);
  for (const axis of features) {
    const { sums, counts } = sumsOf(axis.values, nClusters);
    const rivals = nClusters === 1 ? [1, 2] : [0, nClusters];
    const total = (each) => each.slice(...rivals).reduce((sum, one) => sum + one, 0);
    const [all, nAll] = [total(sums), total(counts)];
    for (let label = 0; label < listed; label++) {
      const own = nClusters === 1 ? 0 : 1;
      const mean = sums[label] / counts[label];
      const rest = (all - own * sums[label]) / (nAll - own * counts[label]);
      const deviations = (mean - rest) / spreadOf(axis);
      if (Number.isFinite(deviations)) found[label].push({ axis: axis.index, mean, rest, deviations });
    }
  }
  const strongest = (list) => list.sort((a, b) => Math.abs(b.deviations) - Math.abs(a.deviations)).slice(0, 4);
  return new Map(found.map((list, label) => [label, strongest(list)]));
}

// Sums of values and how many there are, missing ones left out, for each label; those of -1 come last.
function sumsOf(values, nClusters) {
  const sums = new Float64Array(nClusters + 1);
  const counts = new Int32Array(nClusters + 1);
  for (let i = 0; i < n; i++) {
    if (Number.isNaN(values[i])) continue;
    const at = state.labels[i] < 0 ? nClusters : state.labels[i];
    sums[at] += values[i];
    counts[at]++;
  }
  return { sums, counts };
}

// The distance of the quartiles as a standard deviation; the standard deviation where it is zero.
function spreadOf(axis) {
  const { spread, values } = axis;
  if (spread !== undefined) return spread;
  const quarters = shapes[axis.index].quarter;
  const known = values.filter(Number.isFinite);
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length;
  axis.spread = quarters > 0 ? (2 * quarters) / 1.349 : Math.sqrt(variance) || 1;
  return axis.spread;
}

function startClusters() {
  byId("clusters-heading").textContent = detects ? "Typical rows and outliers" : "The clusters";
  byId("clusters-more").addEventListener("click", () => { table.all = !table.all; refresh("clusters"); });
}

views.set("clusters", drawClusters);
