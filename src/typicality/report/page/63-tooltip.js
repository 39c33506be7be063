// One row in full, beside the pointer.

const MANY = 8; // more lines than these are counted, not shown

function linesOf(row) {
  const lines = [];
  if (data.rarity) lines.push(["rarer than", rarityText(row)]);
  lines.push([data.strength_name, strengthText(data.strength[row])]);
  if (data.pValues) lines.push(["p-value", pValueText(row)]);
  if (data.memberships) lines.push(...membershipLines(row));
  data.cells.slice(0, MANY).forEach((cell) => lines.push([cell.name, cell.values[cell.codes[row]] ?? ""]));
  features.slice(0, MANY).forEach((axis) => lines.push([axis.name, valueText(axis.index, axis.values[row])]));
  const left = Math.max(0, data.cells.length - MANY) + Math.max(0, features.length - MANY);
  if (left) lines.push(["", `and ${count(left, "more column")}`]);
  return lines;
}

const rarityText = (row) => `${sharePercent(data.rarity[row], data.n_rows)} of the rows`;

// The three clusters a row belongs to most.
function membershipLines(row) {
  const nPrototypes = data.memberships.length / n;
  const own = Array.from(data.memberships.subarray(row * nPrototypes, (row + 1) * nPrototypes));
  return own
    .map((value, cluster) => [cluster, value])
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([cluster, value]) => [`in cluster ${cluster}`, format(value)]);
}

function rowInWords(row) {
  const lines = linesOf(row).map(([name, value]) => `${name} ${value}`);
  return `${rowName(row)}, ${nameOf(state.labels[row])}. ${lines.join(", ")}.`;
}

function showTooltip(row, x, y) {
  const tooltip = byId("tooltip");
  const label = state.labels[row];
  const title = element("p", {
    className: "tooltip-title",
    children: [swatch(label), element("strong", { text: rowName(row) }), element("span", { text: nameOf(label) })],
  });
  const list = element("dl");
  for (const [name, value] of linesOf(row)) {
    list.append(element("dt", { text: name }), element("dd", { text: value }));
  }
  tooltip.replaceChildren(title, list);
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  const right = x + 18 + width <= window.innerWidth - 8 ? x + 18 : x - 18 - width;
  tooltip.style.left = `${clamp(right, 8, Math.max(8, window.innerWidth - width - 8))}px`;
  tooltip.style.top = `${clamp(y + 14, 8, Math.max(8, window.innerHeight - height - 8))}px`;
}

function hideTooltip() {
  byId("tooltip").hidden = true;
}
