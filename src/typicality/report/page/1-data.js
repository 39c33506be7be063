// The data of the page, decoded once, and the words and elements that show them.

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, u1: Uint8Array };

function decode(_, value) {
  if (!value?.dtype) return value;
  return new ARRAYS[value.dtype](Uint8Array.from(atob(value.data), (letter) => letter.charCodeAt(0)).buffer);
}

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("payload").textContent, decode);
data.axes.push({ name: data.strength_name, values: data.strength, feature: false, step: null });
data.axes.forEach((axis, index) => { axis.index = index; });
const n = data.row.length;
const isSample = n < data.n_rows;
const detects = data.kind === "typicality"; // outliers instead of clusters
const features = data.axes.filter((axis) => axis.feature);

function nameOf(label) {
  if (detects) return label < 0 ? "outlier" : "typical";
  return label < 0 ? "unassigned" : `cluster ${label}`;
}

// ---- rows

const rowName = (row) => `${data.row_word[0].toUpperCase()}${data.row_word.slice(1)} ${data.row[row]}`;
const cellText = (cell, row) => cell.values[cell.codes[row]] ?? "";

const naming = data.cells.filter((cell) => !cell.numeric).slice(0, 2); // numbers name nothing

// "Row 17 · oak": a row by its number, and by what its first column of text holds.
const rowText = (row) => [rowName(row), naming[0] && cellText(naming[0], row)].filter(Boolean).join(" \u00b7 ");

// ---- numbers

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const count = (number, noun) => `${grouped.format(number)} ${noun}${number === 1 ? "" : "s"}`;

// Exponents only where zeros would have to be counted.
function format(value, digits = 4) {
  if (Number.isNaN(value)) return "missing";
  const size = Math.abs(value);
  const short = size !== 0 && (size < 1e-4 || (size >= 1e7 && digits < 7));
  const text = short ? value.toExponential(2).replace(/\.?0+e\+?/, "e") : (value + 0).toLocaleString("en", { maximumSignificantDigits: digits });
  return text.replaceAll("-", "\u2212");
}

// Six digits tell most values apart; dates in seconds, which come in 64 bits, need more. Years have no commas.
const YEAR = /^\s*(years?|yr|jahr|ann[e\u00e9]e|a[n\u00f1]n?o)\s*$/i;
const isDouble = ({ values }) => values instanceof Float64Array;
const valueText = (axis, value) => (YEAR.test(axis.name) && Number.isInteger(value) ? String(value) : format(value, isDouble(axis) ? 15 : 6));

// A membership is never rounded up to 1.
function strengthText(value) {
  if (data.kind !== "memberships") return levelText(value);
  return value > 0.9999 && value < 1 ? "> 0.9999" : format(value);
}

// A share that is never rounded up to 100 %, with the digits that so many rows allow.
function percent(share, nRows) {
  const digits = clamp(String(nRows).length - 2, 1, 4);
  return `${(Math.floor(100 * share * 10 ** digits + 1e-3) / 10 ** digits).toFixed(digits)} %`;
}

const rarityText = (row) => `${percent(data.rarity[row], data.n_rows)} of the rows`;

// ---- elements

// Text enters the page through textContent, never as markup.
function element(name, { text, className, children = [], ...attributes } = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const on = (id, event, act) => byId(id).addEventListener(event, act);

function button(className, children, act, attributes = {}) {
  const made = element("button", { type: "button", className, children, ...attributes });
  made.addEventListener("click", act);
  return made;
}

function tell(id, text) {
  byId(id).textContent = text ?? "";
  byId(id).hidden = !text;
}
