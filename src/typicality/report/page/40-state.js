// What the page is about at this moment, and the one place where it changes.

const state = {
  level: null, // null: the clusters of the fit
  minSize: data.tree ? data.tree.minSize : 1,
  labels: new Int32Array(n),
  summary: null,
  sizes: null,
  sizesOfAll: true, // else of the rows shown
  sizesExact: true, // else estimates
  slots: new Uint8Array(0), // the colour of each cluster
  selected: new Uint8Array(n),
  nSelected: 0,
  selectionName: "",
  selectedLabel: false, // whether that is the name of a label
  hovered: -1,
  found: -1, // the row that was asked for
};

// ---- drawing, at most once a frame ---------------------------------------------------------------

// Plots measure their boxes: they come before words and tables, which move things.
const views = new Map(["paint", "scatter", "marks", "histogram", "tree", "level", "legend", "clusters", "outliers", "found", "selection"]
  .map((name) => [name, () => {}])); // name -> function that draws
const waiting = new Set();
let frame = 0;

function refresh(...names) {
  names.forEach((name) => waiting.add(name));
  if (!frame) frame = requestAnimationFrame(drawWaiting);
}

function refreshAll() {
  refresh(...views.keys());
}

function drawWaiting() {
  cancelAnimationFrame(frame);
  frame = 0;
  const start = performance.now();
  const relabelled = waiting.delete("labels");
  if (relabelled) relabel();
  const now = relabelled ? [...views.keys()] : [...views.keys()].filter((name) => waiting.has(name));
  waiting.clear();
  for (const name of now) views.get(name)();
  if (relabelled) document.documentElement.dataset.updateMs = (performance.now() - start).toFixed(2);
}

// ---- changes -------------------------------------------------------------------------------------

function relabel() {
  const nClusters = labelsAt(state.level, state.minSize, state.labels);
  state.summary = summarise(state.labels, nClusters);
  const { sizes, ofAll, exact } = sizesOf(state.level, state.summary);
  Object.assign(state, { sizes, sizesOfAll: ofAll, sizesExact: exact });
  state.slots = chooseSlots(state.summary);
  const readout = document.documentElement.dataset;
  readout.nClusters = nClusters;
  readout.nUnassigned = unassignedCount();
  readout.sizes = JSON.stringify(Array.from(sizes));
}

function allCount() {
  return state.sizesOfAll ? data.n_rows : n;
}

// A level may take all rows of a cluster that has a prototype, and leave its number.
function labelsWithRows() {
  return Array.from(state.sizes.keys()).filter((label) => state.sizes[label] > 0);
}

function unassignedCount() {
  return allCount() - state.sizes.reduce((sum, size) => sum + size, 0);
}

function setLevel(level) {
  state.level = level;
  relabelSoon();
}

// The clusters of the fit have a smallest size of their own: another one asks for a cut.
function setMinSize(minSize) {
  state.minSize = minSize;
  state.level ??= fittedLevel;
  relabelSoon();
}

// Rows stay selected, but the cluster they were selected by may be another one now.
function relabelSoon() {
  if (state.selectedLabel) state.selectionName += ", before the level moved";
  state.selectedLabel = false;
  refresh("labels");
}

function select(rows, name) {
  state.found = -1;
  state.selected = rows;
  state.nSelected = rows.reduce((sum, one) => sum + one, 0);
  state.selectionName = name;
  state.selectedLabel = false;
  if (state.nSelected) announce(`${count(state.nSelected, "row")} selected: ${name}.`);
  refresh("scatter", "marks", "legend", "tree", "clusters", "found", "selection");
}

function clearSelection() {
  select(new Uint8Array(n), "");
}

function selectLabel(label) {
  const rows = new Uint8Array(n);
  for (let i = 0; i < n; i++) rows[i] = state.labels[i] === label ? 1 : 0;
  select(rows, detects ? `${nameOf(label)} rows` : label < 0 ? "unassigned rows" : nameOf(label));
  state.selectedLabel = state.nSelected > 0;
}

function hover(index) {
  if (index === state.hovered) return;
  state.hovered = index;
  refresh("marks");
}
