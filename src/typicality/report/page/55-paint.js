// What rows are coloured by: their cluster, how rare they are, or any column, also one that took no part.

const STEPS_OF_RAMP = 64;
const MOST_COLOURS = 16; // values of a column of text; the others share one colour

const paint = { choice: null, codes: new Uint8Array(n), values: [], counts: [] };

// A column of text whose cells are all numbers is one of numbers.
function numbersOf(cell) {
  const numbers = cell.values.map((text) => (text.trim() === "" ? NaN : Number(text)));
  const isNumeric = cell.values.every((text, k) => text.trim() === "" || Number.isFinite(numbers[k]));
  return isNumeric && numbers.some(Number.isFinite) ? Float64Array.from(cell.codes, (code) => numbers[code]) : null;
}

function makeChoices() {
  const rare = data.rarity
    ? { name: "rarer than", values: data.rarity, text: (value) => sharePercent(value, data.n_rows) }
    : { name: data.strength_name, values: data.strength, text: strengthText };
  const columns = features.map((axis) => ({ name: axis.name, values: axis.values, text: (value) => valueText(axis.index, value) }));
  const others = data.cells.map((cell) => {
    const values = numbersOf(cell);
    return values ? { name: cell.name, values, text: (value) => format(value) } : { name: cell.name, cell };
  });
  // A column in which no two rows agree, like one of names, has nothing to colour.
  const telling = others.filter(({ cell }) => !cell || (cell.values.length > 1 && cell.values.length < n));
  return [{ name: detects ? "typical or outlier" : "cluster" }, rare, ...columns, ...telling];
}

function drawPaint() {
  const { choice, codes } = paint;
  if (choice.values) {
    for (let i = 0; i < n; i++) codes[i] = choice.stepOf(choice.values[i]);
  } else if (choice.cell) {
    for (let i = 0; i < n; i++) codes[i] = choice.codeOf[choice.cell.codes[i]];
  } else {
    for (let i = 0; i < n; i++) codes[i] = state.labels[i] < 0 ? 0 : slotOf(state.labels[i]) + 1;
  }
}

// Code 0 is for rows without a cluster, a number or one of the frequent values.
function colourOfCode(code) {
  const { choice } = paint;
  if (code === 0) return choice.values || choice.cell ? ink.unassigned : colourOf(-1);
  if (choice.values) return rampColour((code - 1) / (STEPS_OF_RAMP - 1));
  return ink.palette[(code - 1) % ink.palette.length];
}

const shapeOfCode = (code) => (code === 0 || paint.choice.values ? 0 : shapeOf(code - 1));

function rampColour(share) {
  const place = share * (ink.ramp.length - 1);
  const low = Math.min(Math.floor(place), ink.ramp.length - 2);
  return ink.ramp[low].map((part, k) => Math.round(part + (place - low) * (ink.ramp[low + 1][k] - part)));
}

function choosePaint(choice) {
  paint.choice = choice;
  if (choice.values && !choice.stepOf) {
    const shape = describe(choice.values);
    const scale = scaleFor(shape, shape.skewed);
    const [low, high] = [scale.forward(shape.low), scale.forward(shape.high)];
    const step = (STEPS_OF_RAMP - 1) / (high - low || 1);
    Object.assign(choice, { shape, stepOf: (value) => (Number.isFinite(value) ? 1 + Math.round((scale.forward(value) - low) * step) : 0) });
  }
  if (choice.cell && !choice.codeOf) Object.assign(choice, frequentValues(choice.cell));
  refresh("paint", "scatter", "marks", "legend");
}

function frequentValues({ values, codes }) {
  const times = new Int32Array(values.length);
  for (let i = 0; i < n; i++) times[codes[i]]++;
  const order = Array.from(values.keys()).filter((k) => values[k].trim() !== "" && times[k] > 0).sort((a, b) => times[b] - times[a]);
  const codeOf = new Uint8Array(values.length);
  order.slice(0, MOST_COLOURS).forEach((k, place) => { codeOf[k] = place + 1; });
  const listed = order.slice(0, MOST_COLOURS).map((k) => ({ value: k, text: values[k], size: times[k] }));
  return { codeOf, listed, nOther: n - listed.reduce((sum, { size }) => sum + size, 0), nValues: order.length };
}

// ---- the legend ----------------------------------------------------------------------------------

function paintLegend() {
  const { choice } = paint;
  if (choice.values) return [rampLegend(choice)];
  const chips = choice.listed.map(({ value, text, size }, place) => legendChip(
    markOf(colourOfCode(place + 1), shapeOf(place)), text, size, () => selectValue(value)));
  if (choice.nOther) chips.push(legendChip(markOf(ink.unassigned, 0), choice.nValues > MOST_COLOURS ? "other values" : "(empty)", choice.nOther, () => selectValue(null)));
  return chips;
}

function selectValue(value) {
  const { cell, codeOf } = paint.choice;
  const rows = new Uint8Array(n);
  for (let i = 0; i < n; i++) rows[i] = (value === null ? codeOf[cell.codes[i]] === 0 : cell.codes[i] === value) ? 1 : 0;
  select(rows, `${cell.name}: ${value === null ? "other values" : cell.values[value]}`);
}

function rampLegend({ name, shape, text, values }) {
  const bar = element("span", { className: "ramp", "aria-hidden": "true" });
  bar.style.setProperty("--ramp", ink.ramp.map(cssOf).join(", "));
  const ends = [shape.low, shape.high].map((value) => element("span", { text: text(value) }));
  const missing = values.some((value) => !Number.isFinite(value)) ? [markOf(ink.unassigned, 0), element("span", { text: "missing" })] : [];
  return element("li", { className: "ramp-line", children: [element("span", { text: name }), ends[0], bar, ends[1], ...missing] });
}

function legendChip(mark, text, size, act) {
  const button = element("button", {
    type: "button",
    className: "chip",
    children: [mark, element("span", { className: "chip-name", text }), element("span", { className: "chip-size", text: grouped.format(size) })],
  });
  button.addEventListener("click", act);
  return element("li", { children: [button] });
}

// A point as it is drawn in the plot.
function markOf(colour, shape, className = "") {
  const mark = element("span", { className: `swatch ${SHAPES[shape]} ${className}` });
  mark.style.setProperty("--colour", cssOf(colour));
  return mark;
}

function swatch(label) {
  if (label < 0) return detects ? markOf(colourOf(label), 3) : markOf(colourOf(label), 0, "hollow");
  return markOf(colourOf(label), shapeOf(slotOf(label)));
}

function startPaint() {
  const choices = makeChoices();
  const picker = byId("colour-by");
  choices.forEach(({ name }, place) => picker.append(element("option", { text: name, value: place })));
  picker.addEventListener("change", () => choosePaint(choices[Number(picker.value)]));
  choosePaint(choices[0]);
}

views.set("paint", drawPaint);
