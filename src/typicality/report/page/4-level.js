// The level and what follows from it: labels, the selection, the slider with its histogram, and the tree.

const state = {
  level: null, // null: the clusters of the fit
  labels: new Int32Array(n),
  sizes: [], // rows of each cluster
  best: [], // the most typical row shown of each cluster
  slots: [], // the colour of each cluster
  selected: new Uint8Array(n),
  nSelected: 0,
  selectionName: "",
  hovered: -1,
  found: -1, // the row that was asked for
};

// Drawing waits for the next frame; rows are labelled at once.
let frame = 0;
let onlyMarks = true;

function refreshMarks() {
  if (!frame) frame = requestAnimationFrame(draw);
}

function refresh() {
  onlyMarks = false;
  refreshMarks();
}

function draw() {
  frame = 0;
  if (!onlyMarks) [drawScatter, drawHistogram, drawTree, drawWords, drawClusters, drawOutliers, drawFound, drawSelection].forEach((part) => part());
  drawMarks();
  onlyMarks = true;
}

// ---- labels at any level

const WHOLE = 1 - 1e-12; // a sum of fractions may end just below a whole number
const tree = data.tree;
const root = new Int32Array(tree?.node_alpha.length ?? 0); // of each node, the first of its component

// Components of the edges above a level.
function joinAbove(level) {
  const find = (v) => {
    while (root[v] !== v) v = root[v] = root[root[v]];
    return v;
  };
  for (let v = 0; v < root.length; v++) root[v] = v;
  for (let e = 0; e < tree.saddle_alpha.length && tree.saddle_alpha[e] > level; e++) {
    const [a, b] = [find(tree.pairs[2 * e]), find(tree.pairs[2 * e + 1])];
    root[Math.max(a, b)] = Math.min(a, b);
  }
  // A root comes before its nodes, so that one step up suffices in this order.
  for (let v = 0; v < root.length; v++) root[v] = root[root[v]];
}

// Components by falling weight, then by the first node; small ones and low nodes get -1.
function labelTree(level) {
  joinAbove(level);
  const total = new Float64Array(root.length);
  root.forEach((first, v) => { if (tree.node_alpha[v] > level) total[first] += tree.node_weight[v]; });
  const largest = total.reduce((most, one) => Math.max(most, one), 0);
  const key = (v) => Math.round((total[v] / largest) * 1e12);
  const isCluster = (v) => root[v] === v && tree.node_alpha[v] > level && total[v] >= tree.min_size * WHOLE;
  const kept = Array.from(root.keys()).filter(isCluster).sort((a, b) => key(b) - key(a) || a - b);
  const number = new Map(kept.map((v, label) => [v, label]));
  return tree.entry.map((entry, row) => (entry > level ? number.get(root[tree.node_of[row]]) ?? -1 : -1));
}

function relabel() {
  const { level, labels } = state;
  const ofFit = level === null;
  if (ofFit) labels.set(data.labels);
  else if (tree) labels.set(labelTree(level));
  else labels.set(data.strength.map((value, row) => (detects ? -(value < level) : value > level ? data.labels[row] : -1)));
  const known = ofFit ? data.clusters.map(({ label }) => label) : labels;
  state.sizes = new Array(known.reduce((most, label) => Math.max(most, label), -1) + 1).fill(0);
  state.best = state.sizes.map(() => -1);
  labels.forEach((label, row) => {
    if (label < 0) return;
    state.sizes[label]++;
    if (state.best[label] < 0 || data.strength[row] > data.strength[state.best[label]]) state.best[label] = row;
  });
  for (const { label, size, typical } of data.clusters) {
    if (label < 0) continue;
    if (ofFit) state.sizes[label] = size; // of all rows, where a sample is shown
    if (typical >= 0 && labels[typical] === label && (ofFit || !tree)) state.best[label] = typical;
  }
  chooseSlots();
  const readout = document.documentElement.dataset;
  readout.nClusters = state.sizes.length;
  readout.nUnassigned = unassignedCount();
  readout.level = state.level ?? "";
  readout.sizes = JSON.stringify(state.sizes);
}

const slotOfPeak = new Map(); // a cluster keeps its colour by its most typical row, while it grows

function chooseSlots() {
  state.best.forEach((row) => { if (!slotOfPeak.has(row)) slotOfPeak.set(row, slotOfPeak.size % N_SLOTS); });
  state.slots = state.best.map((row) => slotOfPeak.get(row));
}

const allCount = () => (state.level === null ? data.n_rows : n);
const unassignedCount = () => allCount() - state.sizes.reduce((sum, size) => sum + size, 0);

// A level may take all rows of a cluster, and leave its number.
const labelsWithRows = () => Array.from(state.sizes.keys()).filter((label) => state.sizes[label] > 0);

function setLevel(level) {
  state.level = level;
  relabel();
  refresh();
}

// ---- the selection

function select(isChosen, name) {
  state.found = -1;
  state.selected = Uint8Array.from({ length: n }, (_, row) => (isChosen(row) ? 1 : 0));
  state.nSelected = state.selected.reduce((sum, one) => sum + one, 0);
  state.selectionName = name;
  refresh();
}

const clearSelection = () => select(() => false, "");

function selectLabel(label) {
  select((row) => state.labels[row] === label, detects || label < 0 ? `${nameOf(label)} rows` : nameOf(label));
}

// ---- the scale of the level

const STEPS = 1000;
const EDGE = 10; // css pixels beside the plots of the level: half the thumb of the slider

// Typicalities may differ in late digits only, and clusters part close to the emptiest place: the scale widens it.
const levels = (() => {
  const shape = describe(data.strength);
  const low = lowestLevel(shape);
  const near = Math.max(shape.foot - low, (shape.high - low) / 1000) || 1;
  const scale = tree ? squashAround(low, near) : scaleFor(shape, shape.skewed);
  const [first, last] = [scale.forward(low), scale.forward(shape.high)];
  const digits = clamp(Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(shape.high)) / near)) + 3, 4, 15);
  return { scale, low: first, width: last > first ? last - first : 1, digits };
})();

function lowestLevel({ low, foot, high }) {
  if (!(high > low)) return high - (Math.abs(high) / 2 || 0.5);
  if (!tree) return detects ? low : Math.min(0, low);
  const lowest = clamp(tree.saddle_alpha.at(-1) ?? low, low - 0.5 * (high - low), low);
  return Math.max(0, lowest - Math.max(0.1 * (foot - lowest), 0.002 * (high - lowest)));
}

const shareOf = (level) => clamp((levels.scale.forward(level) - levels.low) / levels.width, 0, 1);

// What the page shows is what it uses.
const rounded = (value) => Number(value.toPrecision(levels.digits));
const levelAt = (share) => rounded(levels.scale.back(levels.low + clamp(share, 0, 1) * levels.width));
const levelText = (value) => String(rounded(value)).replace("-", "\u2212");

// While each cluster has a level of its own, the line stands between them.
const ownLevels = (data.levels ?? []).filter(Number.isFinite).sort((a, b) => a - b);
const fittedLevel = data.cut ?? ownLevels[ownLevels.length >> 1] ?? levelAt(0);
const shownLevel = () => state.level ?? fittedLevel;
const hasOneLevel = () => state.level !== null || data.cut !== null;

// ---- the histogram

const N_BINS = 72;
const binOf = Uint8Array.from(data.strength, (value) => Math.min(N_BINS - 1, Math.floor(shareOf(value) * N_BINS)));

function drawHistogram() {
  const { context, width, height } = fitCanvas(byId("histogram").querySelector("canvas"));
  const [left, right, top, bottom] = [EDGE, width - EDGE, 20, height - 22];
  const across = right - left;
  drawBars(context, left, across / N_BINS, bottom, bottom - top);
  context.strokeStyle = ink.line;
  line(context, left, bottom + 0.5, right, bottom + 0.5);
  context.fillStyle = ink.faint;
  const ends = [levels.low, levels.low + levels.width];
  acrossTexts(context, ticksBetween(levels.scale, ...ends, Math.max(2, across / 80)), along(ends, left, right), bottom + 12, width);
  if (state.level === null) (data.levels ?? []).forEach((level, label) => { // a mark for each cluster
    const x = left + shareOf(level) * across;
    context.fillStyle = colourOf(label);
    context.fillRect(x - 0.75, top, 1.5, bottom - top);
    outline(context, 3, x, top - 3, 4);
    context.fill();
  });
  const x = left + shareOf(shownLevel()) * across;
  context.strokeStyle = context.fillStyle = ink.text;
  context.lineWidth = hasOneLevel() ? 2 : 1;
  context.setLineDash(hasOneLevel() ? [] : [3, 4]);
  line(context, x, 14, x, bottom + 4);
  context.setLineDash([]);
  outline(context, 0, x, 9, 6);
  if (hasOneLevel()) context.fill();
  else context.stroke();
}

// Unassigned rows come first, at the bottom.
function drawBars(context, left, wide, bottom, tall) {
  const counts = Array.from({ length: N_BINS }, () => new Map());
  state.labels.forEach((label, row) => {
    const bin = counts[binOf[row]];
    const slot = label < 0 ? -1 : state.slots[label];
    bin.set(slot, (bin.get(slot) ?? 0) + 1);
  });
  const totals = counts.map((bin) => [...bin.values()].reduce((sum, one) => sum + one, 0));
  const tallest = Math.max(...totals, 1);
  counts.forEach((bin, place) => {
    // A single row must be seen beside a bin of thousands.
    const factor = Math.max(tall / tallest, totals[place] ? 1.5 / totals[place] : 0);
    let y = bottom;
    for (const slot of [...bin.keys()].sort((a, b) => a - b)) {
      const size = bin.get(slot) * factor;
      context.fillStyle = slot < 0 ? colourOf(-1) : hueOf(slot);
      context.globalAlpha = slot < 0 && !detects ? 0.55 : 1;
      context.fillRect(left + place * wide, y - size, Math.max(wide - 1, 0.6), size);
      y -= size;
    }
  });
  context.globalAlpha = 1;
}

// ---- words and controls

function answer() {
  if (state.level === null && data.headline) return data.headline;
  const [nClusters, unassigned] = [labelsWithRows().length, unassignedCount()];
  const where = `${count(allCount(), "row")}${allCount() < data.n_rows ? " shown" : ""}`;
  if (detects) return `${grouped.format(unassigned)} of ${where} ${unassigned === 1 ? "scores" : "score"} below the threshold.`;
  const rest = unassigned === 0 ? "every row belongs to one" : `${count(unassigned, "row")} ${unassigned === 1 ? "is" : "are"} unassigned`;
  return `${nClusters === 0 ? "No clusters" : count(nClusters, "cluster")} in ${where}; ${rest}.`;
}

const LEVEL_WORDS = {
  tree: "Connected rows above the level form a cluster; the other rows are unassigned.",
  memberships: "Rows at or below the level are unassigned. Level 0 shows the clusters of the fit.",
  typicality: "Rows below the threshold are outliers.",
};

function drawWords() {
  const level = shownLevel();
  byId("summary").textContent = answer();
  tell("certainty", state.level === null ? `How sure? ${data.certainty}` : "");
  byId("alpha").value = String(Math.round(shareOf(level) * STEPS));
  byId("alpha").setAttribute("aria-valuetext", `${levelText(level)}: ${answer()}`);
  byId("level-now").textContent = state.level === null ? data.fitted_words : `${detects ? "Threshold" : "Cut at"} ${levelText(level)}`;
  byId("automatic").disabled = state.level === null;
}

function startLevel() {
  tell("histogram-words", `${isSample ? "Rows shown," : "Rows"} by ${data.strength_name}`);
  byId("level-words").textContent = `${data.strength_words} ${LEVEL_WORDS[data.kind]}`;
  byId("level-heading").textContent = detects ? "The threshold" : "The level";
  byId("automatic").textContent = `Back to the ${detects ? "fitted threshold" : "fitted clusters"}`;
  on("alpha", "input", () => setLevel(levelAt(byId("alpha").valueAsNumber / STEPS)));
  on("automatic", "click", () => setLevel(null));
  byId("tree-part").hidden = byId("tree-words").hidden = !tree;
}

// ---- the cluster tree: a bar for each branch on the scale of the level

const rowOfNode = new Map(); // the first row shown of each node
tree?.node_of.forEach((node, row) => { if (!rowOfNode.has(node)) rowOfNode.set(node, row); });
let bars = []; // { branch, group, above, end }
let drawnWidth = 0;

function svg(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Children that join near the tip stand nearest to their parent: then no two lines cross.
function branchesInOrder(parent = -1) {
  const own = tree.branches.map((branch, index) => ({ ...branch, index })).filter((branch) => branch.parent === parent);
  return own.flatMap((branch) => [branch, ...branchesInOrder(branch.index)]);
}

const levelToX = (level) => EDGE + shareOf(level) * (drawnWidth - 2 * EDGE);

function buildTree() {
  const shown = branchesInOrder();
  const pitch = clamp(250 / shown.length, 7, 26);
  const height = Math.ceil(shown.length * pitch + 14);
  const toY = (place) => 7 + (place + 0.5) * pitch;
  const drawing = svg("svg", { width: drawnWidth, height, viewBox: `0 0 ${drawnWidth} ${height}`, role: "presentation" });
  bars = shown.map((branch, place) => {
    const thick = clamp(Math.sqrt(branch.size / shown[0].size) * pitch * 0.8, 2, 14);
    const [start, end, y] = [levelToX(branch.merge_alpha), levelToX(branch.peak_alpha), toY(place)];
    const name = `Branch of size ${format(branch.size)}, from ${levelText(branch.merge_alpha)} to ${levelText(branch.peak_alpha)}`;
    const group = svg("g", { role: "treeitem", tabindex: "0", "aria-label": name, "data-size": branch.size, class: "branch" });
    const parent = Math.max(shown.findIndex((other) => other.index === branch.parent), 0);
    const above = svg("line", { class: "above", x1: end, x2: end, y1: y, y2: y, "stroke-width": thick });
    group.append(
      svg("path", { class: "link", d: `M${start} ${toY(parent)}V${y}` }),
      svg("line", { class: "below", x1: start, x2: end, y1: y, y2: y, "stroke-width": Math.min(thick, 4) }),
      above,
      svg("rect", { class: "target", x: start - 3, y: y - pitch / 2, width: Math.max(end - start, 4) + 6, height: pitch, rx: 3 }),
    );
    group.addEventListener("click", () => selectBranch(branch));
    group.addEventListener("keydown", (event) => { if (event.key === "Enter") selectBranch(branch); });
    return { branch, group, above, end };
  });
  drawing.append(...bars.map(({ group }) => group), svg("line", { class: "cut", y1: 0, y2: height }));
  byId("tree").replaceChildren(drawing);
}

// Above its level a branch has the colour of the cluster its peak is in.
function drawTree() {
  if (!tree) return;
  const width = byId("tree").clientWidth;
  if (width !== drawnWidth) {
    drawnWidth = width;
    buildTree();
  }
  for (const { branch, group, above, end } of bars) {
    const label = state.labels[rowOfNode.get(branch.peak)] ?? -1;
    const level = state.level ?? data.cut ?? data.levels?.[label] ?? Infinity;
    above.setAttribute("visibility", label >= 0 && branch.peak_alpha > level ? "visible" : "hidden");
    above.setAttribute("x1", Math.min(levelToX(Math.max(level, branch.merge_alpha)), end - 1));
    above.setAttribute("stroke", colourOf(label));
    group.setAttribute("aria-selected", String(state.selectionName === branchName(branch)));
  }
  const cut = byId("tree").querySelector(".cut");
  for (const end of ["x1", "x2"]) cut.setAttribute(end, levelToX(shownLevel()));
  cut.classList.toggle("ghost", !hasOneLevel());
}

const branchName = (branch) => `branch from ${levelText(branch.merge_alpha)} to ${levelText(branch.peak_alpha)}`;

// The rows of a branch hang together, with its peak, above the end of it.
function selectBranch(branch) {
  joinAbove(branch.merge_alpha);
  const first = root[branch.peak];
  select((row) => branch.parent < 0 || (root[tree.node_of[row]] === first && tree.entry[row] > branch.merge_alpha), branchName(branch));
}
