// The payload, decoded once: typed arrays of the rows shown, and the words that go with them.

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, u2: Uint16Array, u1: Uint8Array };

function decode(array) {
  if (array === null || array === undefined) return null;
  const text = atob(array.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new ARRAYS[array.dtype](bytes.buffer);
}

function decodeTree(tree) {
  if (!tree) return null;
  return {
    nodeOf: decode(tree.node_of),
    entry: decode(tree.entry),
    nodeAlpha: decode(tree.node_alpha),
    nodeWeight: decode(tree.node_weight),
    pairs: decode(tree.pairs),
    saddleAlpha: decode(tree.saddle_alpha),
    branches: tree.branches,
    minSize: tree.min_size,
    countsRows: tree.counts_rows,
  };
}

function readPayload() {
  const raw = JSON.parse(document.getElementById("payload").textContent);
  return {
    ...raw,
    row: decode(raw.row),
    axes: raw.axes.map((axis) => ({ ...axis, values: decode(axis.values) })),
    cells: raw.cells.map((cell) => ({ ...cell, codes: decode(cell.codes) })),
    labels: decode(raw.labels),
    strength: decode(raw.strength),
    pValues: decode(raw.p_values),
    rarity: decode(raw.rarity),
    memberships: decode(raw.memberships),
    tree: decodeTree(raw.tree),
    outliers: {
      index: decode(raw.outliers.index),
      explained: decode(raw.outliers.explained), // null: every row shown
      axis: decode(raw.outliers.axis),
      tenths: decode(raw.outliers.tenths),
      categories: raw.outliers.categories,
    },
  };
}

const data = readPayload();
data.axes.push({ name: data.strength_name, values: data.strength, feature: false });
const n = data.row.length;
const rowName = (row) => `${data.row_word[0].toUpperCase()}${data.row_word.slice(1)} ${data.row[row]}`;
const isSample = n < data.n_rows;
const features = data.axes.map((axis, index) => ({ ...axis, index })).filter((axis) => axis.feature);

// What differs between a clustering and a detector of outliers is told in these words only.
const detects = data.kind === "typicality";

function nameOf(label) {
  if (detects) return label < 0 ? "outlier" : "typical";
  return label < 0 ? "unassigned" : `cluster ${label}`;
}
