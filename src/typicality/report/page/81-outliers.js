// The least typical rows, and the features that make them so.

const PAGE = 20;
const outlierList = { page: 0 };
const TELLING = features.length > 1 ? 0.5 : 0; // spreads: a smaller deviation explains nothing
const farthest = data.outliers.tenths.reduce((most, value) => Math.max(most, Math.abs(value)), 30) / 10;

function drawOutliers() {
  const { index } = data.outliers;
  const pages = Math.max(1, Math.ceil(index.length / PAGE));
  outlierList.page = clamp(outlierList.page, 0, pages - 1);
  const first = outlierList.page * PAGE;
  const items = Array.from(index.subarray(first, first + PAGE), outlierItem);
  byId("outliers").replaceChildren(...items);
  byId("outliers").start = first + 1;
  byId("outliers-page").textContent = index.length
    ? `${grouped.format(first + 1)}\u2013${grouped.format(first + items.length)} of ${grouped.format(index.length)}` : "";
  byId("outliers-back").disabled = outlierList.page === 0;
  byId("outliers-on").disabled = outlierList.page >= pages - 1;
  byId("outliers-page").parentElement.hidden = pages === 1;
  byId("outliers-words").textContent = outlierLead(index.length);
}

function outlierLead(nListed) {
  const unassigned = unassignedCount();
  const rows = `${state.sizesExact ? "" : "About "}${count(unassigned, "row")}${state.sizesOfAll ? "" : " of those shown"}`;
  const here = detects
    ? `${rows} ${unassigned === 1 ? "is an outlier" : "are outliers"}.`
    : unassigned === 0 ? "Every row belongs to a cluster." : `${rows} ${unassigned === 1 ? "is" : "are"} unassigned.`;
  return nListed ? `${here} ${data.shares ? "Those with the smallest membership" : "Least typical"} first. ${data.outlier_words ?? ""}` : here;
}

function outlierItem(row) {
  return element("li", { children: rowCard(row) });
}

// A row by its name, how rare it is, and why.
function rowCard(row) {
  const label = state.labels[row];
  const button = element("button", {
    type: "button",
    className: "outlier-name",
    "data-row": data.row[row],
    children: [swatch(label), element("strong", { text: rowName(row) }), element("span", { text: nameOf(label) })],
  });
  button.addEventListener("click", () => showRow(row));
  const cells = naming.map((cell) => cell.values[cell.codes[row]]).filter(Boolean);
  const how = [
    ...(data.rarity ? [`rarer than ${rarityText(row)}`] : []),
    ...(data.pValues ? [`p-value ${pValueText(row)}`] : []),
    `${data.strength_name} ${strengthText(data.strength[row])}`,
  ];
  const about = element("p", { className: "outlier-about", text: [...cells, ...how].join(" \u00b7 ") });
  return [button, about, element("ul", { className: "reasons", children: reasonsOf(row) })];
}

// What a person calls a row: a column of text that tells rows apart, or its number.
function nameOfRow(row) {
  const cell = naming.find(({ values }) => values.length > n / 2);
  return cell?.values[cell.codes[row]] || rowName(row);
}

// Columns of numbers, which took no part, name nothing.
const naming = data.cells.filter((cell) => cell.values.some((text) => Number.isNaN(Number(text)))).slice(0, 2);
const pValueText = (row) => String(Number(data.pValues[row].toPrecision(2)));

const placeExplained = data.outliers.explained && new Map(Array.from(data.outliers.explained, (row, place) => [row, place]));

function reasonsOf(row) {
  const { axis, tenths } = data.outliers;
  const place = placeExplained ? placeExplained.get(row) : row;
  const plain = (text) => [element("li", { className: "plain", text })];
  if (place === undefined) return plain(`Reasons are on this page for the ${grouped.format(placeExplained.size)} least typical rows only.`);
  const telling = [0, 1, 2].map((k) => 3 * place + k)
    .filter((at) => axis[at] >= 0 && Math.abs(tenths[at]) >= 10 * TELLING);
  const categories = (data.outliers.categories[place] ?? []).map((text) => element("li", { className: "plain", text }));
  if (!telling.length && !categories.length) return plain("No single column stands out.");
  const numbers = telling.map((at) => {
    const deviations = tenths[at] / 10;
    const bar = element("span", { className: deviations < 0 ? "bar low" : "bar", "aria-hidden": "true" });
    // Roots: one wild value must not flatten all the others.
    bar.style.setProperty("--part", String(Math.sqrt(Math.abs(deviations) / farthest)));
    return element("li", {
      children: [
        element("span", { className: "reason-name", text: data.axes[axis[at]].name, title: data.axes[axis[at]].name }),
        element("span", { className: "reason-value", text: valueText(axis[at], data.axes[axis[at]].values[row]) }),
        bar,
        element("span", { className: "reason-words", text: deviationWords(deviations) }),
      ],
    });
  });
  return [...categories, ...numbers];
}

// The row is marked in the scatter, which comes into sight.
function showRow(row) {
  const one = new Uint8Array(n);
  one[row] = 1;
  select(one, `${data.row_word} ${data.row[row]}`);
  state.found = row;
  bringIntoView(row);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  scatter.box.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
}

function startOutliers() {
  byId("outliers-heading").textContent = detects ? "Outliers" : data.shares ? "Rows between clusters" : "The least typical rows";
  byId("outliers-back").addEventListener("click", () => { outlierList.page--; refresh("outliers"); });
  byId("outliers-on").addEventListener("click", () => { outlierList.page++; refresh("outliers"); });
}

views.set("outliers", drawOutliers);
