// Labels at any level, in one pass over the tree and one over the rows.

const WHOLE = 1 - 1e-12; // a sum of fractions may end just below a whole number

// Components of the edges above a level: afterwards each node points to the first of its component.
class Forest {
  constructor(tree) {
    this.tree = tree;
    this.root = new Int32Array(tree.nodeAlpha.length);
    this.total = new Float64Array(tree.nodeAlpha.length);
    this.number = new Int32Array(tree.nodeAlpha.length);
  }

  join(level) {
    const { root } = this;
    const { pairs, saddleAlpha } = this.tree;
    for (let v = 0; v < root.length; v++) root[v] = v;
    for (let e = 0; e < saddleAlpha.length && saddleAlpha[e] > level; e++) {
      const a = this.find(pairs[2 * e]);
      const b = this.find(pairs[2 * e + 1]);
      if (a < b) root[b] = a;
      else root[a] = b;
    }
    // A root comes before its nodes, so that one step up suffices in this order.
    for (let v = 0; v < root.length; v++) root[v] = root[root[v]];
  }

  find(v) {
    const { root } = this;
    while (root[v] !== v) {
      root[v] = root[root[v]];
      v = root[v];
    }
    return v;
  }

  // Numbers by falling weight, then by the first node; small components and low nodes get -1.
  numberAbove(level, minSize) {
    this.join(level);
    const { root, total, number } = this;
    const { nodeAlpha, nodeWeight } = this.tree;
    total.fill(0);
    number.fill(-1);
    let largest = 0;
    for (let v = 0; v < root.length; v++) {
      if (nodeAlpha[v] <= level) continue;
      total[root[v]] += nodeWeight[v];
      largest = Math.max(largest, total[root[v]]);
    }
    const kept = [];
    for (let v = 0; v < root.length; v++) {
      if (root[v] === v && nodeAlpha[v] > level && total[v] >= minSize * WHOLE) kept.push(v);
    }
    const places = placesByFallingSize(kept.map((v) => Math.round((total[v] / largest) * 1e12)));
    kept.forEach((v, i) => { number[v] = places[i]; });
    return kept.length;
  }
}

// The place of each key among the falling keys; equal keys keep their order.
function placesByFallingSize(keys) {
  const sorted = Float64Array.from(keys).sort().reverse();
  const next = new Map();
  sorted.forEach((key, place) => { if (!next.has(key)) next.set(key, place); });
  return keys.map((key) => {
    const place = next.get(key);
    next.set(key, place + 1);
    return place;
  });
}

const forest = data.tree ? new Forest(data.tree) : null;

function treeLabels(level, minSize, out) {
  const nClusters = forest.numberAbove(level, minSize);
  const { nodeOf, entry } = data.tree;
  for (let i = 0; i < n; i++) {
    out[i] = entry[i] > level ? forest.number[forest.root[nodeOf[i]]] : -1;
  }
  return nClusters;
}

// Fills in the labels and gives the number of clusters. Level null: the labels of the fit.
function labelsAt(level, minSize, out) {
  if (level !== null && data.kind === "tree") return treeLabels(level, minSize, out);
  if (level === null) {
    out.set(data.labels);
  } else if (data.kind === "memberships") {
    for (let i = 0; i < n; i++) out[i] = data.strength[i] > level ? data.labels[i] : -1;
  } else {
    for (let i = 0; i < n; i++) out[i] = data.strength[i] >= level ? 0 : -1;
  }
  return out.reduce((most, label) => Math.max(most, label), -1) + 1;
}

// The rows of a branch: those that hang together with its peak above the end of it.
function rowsOfBranch(branch) {
  if (branch.parent < 0) return new Uint8Array(n).fill(1);
  const rows = new Uint8Array(n);
  forest.join(branch.merge_alpha);
  const { nodeOf, entry } = data.tree;
  const root = forest.root[branch.peak];
  for (let i = 0; i < n; i++) {
    rows[i] = forest.root[nodeOf[i]] === root && entry[i] > branch.merge_alpha ? 1 : 0;
  }
  return rows;
}

// ---- what is told of each cluster ----------------------------------------------------------------

// Rows shown, sum of strengths and most typical row of each label; those of -1 come last.
function summarise(labels, nClusters) {
  const shown = new Int32Array(nClusters + 1);
  const strength = new Float64Array(nClusters + 1);
  const best = new Int32Array(nClusters + 1).fill(-1);
  for (let i = 0; i < n; i++) {
    const at = labels[i] < 0 ? nClusters : labels[i];
    shown[at]++;
    strength[at] += data.strength[i];
    if (best[at] < 0 || data.strength[i] > data.strength[best[at]]) best[at] = i;
  }
  return { nClusters, shown, strength, best };
}

// Rows of ALL data in each cluster, where the page can know: of a sample it knows the sizes of the
// fit, and for other levels estimates from the tree.
function sizesOf(level, summary) {
  const shown = summary.shown.subarray(0, summary.nClusters);
  if (!isSample) return { sizes: shown, ofAll: true, exact: true };
  if (level === null) return { sizes: fittedSizes(summary.nClusters), ofAll: true, exact: true };
  if (data.kind === "tree" && nodesCountRows) {
    const sizes = new Int32Array(summary.nClusters);
    forest.number.forEach((number, v) => { if (number >= 0) sizes[number] = forest.total[v]; });
    return { sizes, ofAll: true, exact: false };
  }
  return { sizes: shown, ofAll: false, exact: true };
}

function fittedSizes(nClusters) {
  const sizes = new Int32Array(nClusters);
  for (const cluster of data.clusters) if (cluster.label >= 0) sizes[cluster.label] = cluster.size;
  return sizes;
}

// Where rows have weights the totals of the nodes say nothing about the number of rows.
const nodesCountRows = data.tree !== null && data.tree.countsRows;
