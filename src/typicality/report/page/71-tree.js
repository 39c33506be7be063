// The cluster tree: a bar for each branch on the scale of the level, children below their parents.

const SVG = "http://www.w3.org/2000/svg";
const MOST_BRANCHES = 40;
const tree = { box: byId("tree"), shown: [], items: [], current: 0, key: "" };

function svg(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Branches of the clusters of the fit first, among noise they are not the most persistent ones; then the
// most persistent. A branch brings those it joins.
function branchesToShow() {
  const all = data.tree.branches.map((branch, index) => ({ ...branch, index }));
  const large = all.filter((branch) => branch.parent < 0 || branch.size >= state.minSize * WHOLE);
  const kept = new Set();
  for (const branch of [...large.filter(isOfCluster), ...large]) {
    if (kept.size >= MOST_BRANCHES) break;
    for (let each = branch; each && !kept.has(each.index); each = all[each.parent]) kept.add(each.index);
  }
  return { shown: inOrder(large.filter((branch) => kept.has(branch.index))), nLeft: large.length - kept.size };
}

const typicalRows = new Set(data.clusters.map((cluster) => cluster.typical_row));

function isOfCluster(branch) {
  const row = rowOfNode.get(branch.peak);
  return branch.parent < 0 || (row !== undefined && typicalRows.has(data.row[row]));
}

// Children that join near the tip stand nearest to their parent: then no two lines cross.
function inOrder(branches) {
  const childrenOf = new Map(branches.map((branch) => [branch.index, []]));
  for (const branch of branches) childrenOf.get(branch.parent)?.push(branch);
  const ordered = [];
  const waiting = branches.filter((branch) => branch.parent < 0).map((branch) => ({ branch, depth: 1 }));
  while (waiting.length) {
    const { branch, depth } = waiting.pop();
    ordered.push({ ...branch, depth });
    const children = childrenOf.get(branch.index).sort((a, b) => a.merge_alpha - b.merge_alpha);
    children.forEach((child) => waiting.push({ branch: child, depth: depth + 1 }));
  }
  return ordered;
}

// ---- drawing -------------------------------------------------------------------------------------

function drawTree() {
  if (!data.tree) return;
  const width = tree.box.clientWidth;
  const key = `${width} ${state.minSize}`;
  if (key !== tree.key) buildTree(width);
  tree.key = key;
  const toX = (level) => EDGE + shareOf(level) * (width - 2 * EDGE);
  const cut = toX(shownLevel());
  for (const item of tree.items) colourBranch(item, toX);
  tree.cut.setAttribute("x1", cut);
  tree.cut.setAttribute("x2", cut);
  tree.cut.classList.toggle("ghost", !hasOneLevel());
}

function buildTree(width) {
  const { shown, nLeft } = branchesToShow();
  const pitch = clamp(250 / shown.length, 7, 26);
  const height = Math.ceil(shown.length * pitch + 14);
  const toX = (level) => EDGE + shareOf(level) * (width - 2 * EDGE);
  const toY = (place) => 7 + (place + 0.5) * pitch;
  const placeOfBranch = new Map(shown.map((branch, place) => [branch.index, place]));
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "presentation" });
  const total = Math.max(...shown.map((branch) => branch.size));
  tree.items = shown.map((branch, place) => {
    const parent = placeOfBranch.get(branch.parent) ?? place;
    return makeBranch(branch, { toX, y: toY(place), parentY: toY(parent), pitch, share: branch.size / total });
  });
  tree.shown = shown;
  tree.current = Math.min(tree.current, shown.length - 1);
  tree.cut = svg("line", { class: "cut", y1: 0, y2: height });
  drawing.append(...tree.items.map((item) => item.group), tree.cut);
  tree.box.replaceChildren(drawing);
  byId("tree-note").textContent = nLeft > 0
    ? `${count(nLeft, "more bar")} that end${nLeft === 1 ? "s" : ""} sooner ${nLeft === 1 ? "is" : "are"} not drawn.` : "";
  focusable(tree.current);
}

function makeBranch(branch, { toX, y, parentY, pitch, share }) {
  const thick = clamp(Math.sqrt(share) * pitch * 0.8, 2, 14);
  const [start, end] = [toX(branch.merge_alpha), toX(branch.peak_alpha)];
  const group = svg("g", {
    role: "treeitem",
    tabindex: "-1",
    "aria-level": branch.depth,
    "aria-label": `Branch of ${sizeWords(branch.size)}, from ${strengthText(branch.merge_alpha)} to ${strengthText(branch.peak_alpha)}`,
    "data-size": branch.size,
    "data-peak": branch.peak,
    class: "branch",
  });
  const link = svg("path", { class: "link", d: `M${start} ${parentY}V${y}` });
  const below = svg("line", { class: "below", x1: start, x2: end, y1: y, y2: y, "stroke-width": Math.min(thick, 4) });
  const above = svg("line", { class: "above", x1: end, x2: end, y1: y, y2: y, "stroke-width": thick });
  const target = svg("rect", { class: "target", x: start - 3, y: y - pitch / 2, width: Math.max(end - start, 4) + 6, height: pitch, rx: 3 });
  group.append(link, below, above, target);
  group.addEventListener("click", () => {
    tree.current = tree.items.findIndex((item) => item.group === group);
    focusable(tree.current);
    selectBranch(branch);
  });
  return { branch, group, above, end };
}

const sizeWords = (size) => (nodesCountRows ? count(size, "row") : `weight ${format(size)}`);

// Above its level a branch has the colour of the cluster its peak is in.
function colourBranch({ branch, group, above, end }, toX) {
  const label = labelOfNode(branch.peak);
  const level = state.level ?? data.cut ?? data.levels?.[label] ?? Infinity;
  const start = toX(Math.max(level, branch.merge_alpha));
  const visible = label >= 0 && branch.peak_alpha > level;
  above.setAttribute("visibility", visible ? "visible" : "hidden");
  above.setAttribute("x1", Math.min(start, end - 1));
  above.setAttribute("stroke", cssOf(colourOf(label)));
  group.setAttribute("aria-selected", String(state.selectionName === branchName(branch)));
}

const rowOfNode = new Map();
if (data.tree) data.tree.nodeOf.forEach((node, row) => { if (!rowOfNode.has(node)) rowOfNode.set(node, row); });

function labelOfNode(node) {
  const row = rowOfNode.get(node);
  return row === undefined ? -1 : state.labels[row];
}

// ---- keys ----------------------------------------------------------------------------------------

const branchName = (branch) => `branch from ${strengthText(branch.merge_alpha)} to ${strengthText(branch.peak_alpha)}`;

function selectBranch(branch) {
  select(rowsOfBranch(branch), branchName(branch));
}

function focusable(place) {
  tree.items.forEach((item, at) => item.group.setAttribute("tabindex", at === place ? "0" : "-1"));
}

function treeKey(event) {
  const { shown, current } = tree;
  const branch = shown[current];
  const child = shown.findIndex((other) => other.parent === branch.index);
  const parent = shown.findIndex((other) => other.index === branch.parent);
  const next = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: shown.length - 1, ArrowRight: child, ArrowLeft: parent }[event.key];
  if (event.key === "Enter" || event.key === " ") selectBranch(branch);
  else if (next === undefined) return;
  else if (next >= 0 && next < shown.length) {
    tree.current = next;
    focusable(next);
    tree.items[next].group.focus();
  }
  event.preventDefault();
}

function startTree() {
  byId("tree-part").hidden = !data.tree;
  byId("tree-words").hidden = !data.tree;
  tree.box.addEventListener("keydown", treeKey);
}

views.set("tree", drawTree);
