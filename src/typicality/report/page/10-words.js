// Numbers and counts as people write them.

const byId = (id) => document.getElementById(id);
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
function count(number, noun) {
  return `${grouped.format(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// Exponents only where zeros would have to be counted.
function format(value, digits = 4) {
  if (Number.isNaN(value)) return "missing";
  const size = Math.abs(value);
  const short = size !== 0 && (size < 1e-4 || (size >= 1e7 && digits < 7));
  const text = short || !Number.isFinite(value)
    ? String(Number(value.toPrecision(3))).replace(/^(-?)(\d)(\d+)$/, withExponent)
    : (value + 0).toLocaleString("en", { maximumSignificantDigits: digits });
  return text.replace("e+", "e").replaceAll("-", "\u2212");
}

// 2e16 for 20000000000000000, which JavaScript writes out.
function withExponent(_, sign, first, rest) {
  const digits = rest.replace(/0+$/, "");
  return `${sign}${first}${digits ? "." : ""}${digits}e${rest.length}`;
}

// Four digits tell most values apart; dates in seconds need more, and years have no commas.
const YEAR = /^\s*(years?|yr|jahr|annee|ann\u00e9e|a\u00f1o|anno)\s*$/i;
function valueText(axis, value) {
  if (YEAR.test(data.axes[axis].name) && Number.isInteger(value)) return String(value);
  const { centre, unit } = shapes[axis];
  return format(value, clamp(Math.ceil(Math.log10(Math.abs(centre) / unit)) + 3, 4, 15));
}

function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  if (value < 100 && value >= 99.5) return "> 99 %";
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

// A share that is never rounded up to 100 %, with the digits that so many rows allow.
function sharePercent(share, nRows) {
  const digits = clamp(String(nRows).length - 2, 1, 4);
  const unit = 10 ** digits;
  return `${(Math.floor(100 * share * unit + 1e-3) / unit).toFixed(digits)} %`;
}

// The shortest text that reads back as the same number: 5.1 for one of 32 bits, not 5.099999904632568.
function exactText(value, isDouble) {
  if (!Number.isFinite(value)) return "";
  if (isDouble || (Number.isInteger(value) && Math.abs(value) < 1e9)) return String(value);
  for (let digits = 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

function deviationText(deviations) {
  const size = Math.abs(deviations);
  const shown = size >= 1000 ? "over 999" : size.toFixed(size < 10 ? 1 : 0);
  return `${deviations < 0 ? "\u2212" : "+"}${shown}`;
}

const deviationWords = (deviations) => `${deviations < 0 ? "low" : "high"} (${deviationText(deviations)})`;

// ---- elements ------------------------------------------------------------------------------------

// All text enters the page here or through textContent elsewhere: never as markup.
function element(name, { text, className, children = [], ...attributes } = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function tell(id, text) {
  const target = byId(id);
  target.textContent = text ?? "";
  target.hidden = !text;
}

let announcing = 0;

// A screen reader hears the last of a run of changes, not each step of a drag.
function announce(text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => { byId("announce").textContent = text; }, 350);
}
