// The scatter: all rows shown along two axes, what rows are coloured by, and hands on it.

const box = byId("scatter");
const scatter = {
  axes: [...data.start_axes],
  squash: false,
  scales: [LINEAR, LINEAR],
  home: [[0, 1], [0, 1]], // the range of each axis, on its scale
  view: [[0, 1], [0, 1]],
  places: [], // on the scales, for each axis
  x: new Float32Array(n), // css pixels; NaN outside the plot
  y: new Float32Array(n),
  frame: { left: 0, top: 0, right: 1, bottom: 1 },
  rectangle: null,
};

// Rows of a column with few values are spread over a strip around each value, by multiples of an irrational number.
const STRIP = 0.6; // of the step between two values
const SPREADERS = [0.7548776662466927, 0.5698402909980532];

function chooseAxes() {
  scatter.axes.forEach((index, side) => {
    const { low, high, skewed } = shapes[index];
    const scale = scaleFor(shapes[index], scatter.squash && skewed);
    const wide = scale.linear ? STRIP * (data.axes[index].step ?? 0) : 0;
    const aside = (row) => (((row + 1) * SPREADERS[side]) % 1 - 0.5) * wide;
    scatter.scales[side] = scale;
    scatter.places[side] = Float64Array.from(data.axes[index].values, (value, row) => scale.forward(value) + aside(row));
    const [first, last] = [scale.forward(low) - wide / 2, scale.forward(high) + wide / 2];
    const room = last > first ? (last - first) * 0.05 : Math.abs(first) * 0.5 || 0.5;
    scatter.home[side] = [first - room, last + room];
  });
  byId("squash").parentElement.hidden = !scatter.axes.some((index) => shapes[index].skewed);
  const absent = scatter.places[0].filter((place, row) => Number.isNaN(place + scatter.places[1][row])).length;
  tell("absent", absent && `Not drawn, without a value in these columns: ${count(absent, "row")}.`);
  const [across, up] = scatter.axes.map((index) => data.axes[index].name);
  byId("points").setAttribute("aria-label", `Scatter of ${count(n, "row")}: ${across} across, ${up} up.`);
  showAll();
}

function showAll() {
  scatter.view = scatter.home.map((range) => [...range]);
  refresh();
}

// ---- what rows are coloured by

// A way to paint gives each row a code, each code a colour and a shape, and the legend. Code 0: no cluster or value.
const MOST_COLOURS = 16; // values of a column of text; the others share one colour
const MOST_CHIPS = 24;
let choice = null;

const colourOfSlot = (code) => (code ? hueOf(code - 1) : ink.unassigned);
const shapeOfSlot = (code) => (code ? shapeOf(code - 1) : 0);

function paintClusters() {
  const labels = labelsWithRows();
  const chips = labels.slice(0, MOST_CHIPS).map((label) => chip(swatch(label), nameOf(label), state.sizes[label], () => selectLabel(label)));
  if (labels.length > MOST_CHIPS) chips.push(element("li", { className: "more", text: `and ${count(labels.length - MOST_CHIPS, "more cluster")}` }));
  if (unassignedCount() > 0) chips.push(chip(swatch(-1), nameOf(-1), unassignedCount(), () => selectLabel(-1)));
  return {
    codeOf: (row) => (state.labels[row] < 0 ? 0 : slotOf(state.labels[row]) + 1),
    colour: (code) => (code ? colourOfSlot(code) : colourOf(-1)),
    shape: shapeOfSlot,
    legend: chips,
  };
}

function paintNumbers(name, values, text) {
  const shape = describe(values);
  const scale = scaleFor(shape, shape.skewed);
  const toStep = along([shape.low, shape.high].map(scale.forward), 1, ink.ramp.length);
  const codes = Uint8Array.from(values, (value) => (Number.isFinite(value) ? Math.round(toStep(scale.forward(value))) || 1 : 0));
  return () => {
    const bar = element("span", { className: "ramp", "aria-hidden": "true" });
    bar.style.setProperty("--ramp", ink.ramp.join(", "));
    const missing = codes.includes(0) ? [mark(ink.unassigned, 0), element("span", { text: "missing" })] : [];
    const [first, last] = [shape.low, shape.high].map((value) => element("span", { text: text(value) }));
    return {
      codeOf: (row) => codes[row],
      colour: (code) => (code ? ink.ramp[code - 1] : ink.unassigned),
      shape: () => 0,
      legend: [element("li", { className: "ramp-line", children: [element("span", { text: name }), first, bar, last, ...missing] })],
    };
  };
}

function paintTexts({ name, values, codes }) {
  const times = new Int32Array(values.length);
  codes.forEach((code) => { times[code]++; });
  const order = Array.from(values.keys()).filter((k) => values[k].trim() && times[k]).sort((a, b) => times[b] - times[a]);
  const first = order.slice(0, MOST_COLOURS);
  const codeOf = new Uint8Array(values.length);
  first.forEach((k, place) => { codeOf[k] = place + 1; });
  const nOther = n - first.reduce((sum, k) => sum + times[k], 0);
  const choose = (code, text) => () => select((row) => codeOf[codes[row]] === code, `${name}: ${text}`);
  return () => {
    const chips = first.map((k, place) => chip(mark(hueOf(place), shapeOf(place)), values[k], times[k], choose(place + 1, values[k])));
    const rest = order.length > MOST_COLOURS ? "other values" : "(empty)";
    if (nOther) chips.push(chip(mark(ink.unassigned, 0), rest, nOther, choose(0, rest)));
    return { codeOf: (row) => codeOf[codes[row]], colour: colourOfSlot, shape: shapeOfSlot, legend: chips };
  };
}

function chip(swatched, text, size, act) {
  const name = element("span", { className: "chip-name", text });
  const number = element("span", { className: "chip-size", text: grouped.format(size) });
  return element("li", { children: [button("chip", [swatched, name, number], act)] });
}

function paintChoices() {
  const numbers = (name, values, text) => ({ name, make: () => paintNumbers(name, values, text) });
  return [
    { name: detects ? "typical or outlier" : "cluster", make: () => paintClusters },
    data.rarity ? numbers("rarer than", data.rarity, (value) => percent(value, data.n_rows)) : numbers(data.strength_name, data.strength, strengthText),
    ...data.axes.slice(0, -1).map((axis) => numbers(axis.name, axis.values, (value) => valueText(axis, value))),
    ...data.cells.filter(({ numeric, values }) => !numeric && values.length > 1 && values.length < n).map((cell) => ({ name: cell.name, make: () => paintTexts(cell) })),
  ];
}

// ---- drawing

function drawScatter() {
  const { context, width, height } = fitCanvas(byId("points"));
  const up = ticksBetween(scatter.scales[1], ...scatter.view[1], Math.max(2, height / 58));
  const widest = Math.max(...up.map((tick) => context.measureText(tick.text).width), 8);
  const frame = { left: Math.ceil(widest) + 30, top: 10, right: width - 10, bottom: height - 40 };
  const across = ticksBetween(scatter.scales[0], ...scatter.view[0], Math.max(2, (frame.right - frame.left) / 58));
  scatter.frame = frame;
  const toX = along(scatter.view[0], frame.left, frame.right);
  const toY = along(scatter.view[1], frame.bottom, frame.top);
  context.strokeStyle = ink.line;
  for (const { place } of across) line(context, Math.round(toX(place)) + 0.5, frame.top, Math.round(toX(place)) + 0.5, frame.bottom);
  for (const { place } of up) line(context, frame.left, Math.round(toY(place)) + 0.5, frame.right, Math.round(toY(place)) + 0.5);
  for (let row = 0; row < n; row++) {
    const [x, y] = [toX(scatter.places[0][row]), toY(scatter.places[1][row])];
    const inside = x >= frame.left && x <= frame.right && y >= frame.top && y <= frame.bottom;
    scatter.x[row] = inside ? x : NaN;
    scatter.y[row] = inside ? y : NaN;
  }
  const paint = choice();
  drawPoints(context, paint);
  byId("legend").replaceChildren(...paint.legend);
  context.globalAlpha = 1;
  context.fillStyle = ink.faint;
  acrossTexts(context, across, toX, frame.bottom + 13, width);
  context.textAlign = "right";
  for (const tick of up) context.fillText(tick.text, frame.left - 7, toY(tick.place));
  context.textAlign = "center";
  context.fillStyle = ink.text;
  context.font = fontOf(12, 500);
  const [nameX, nameY] = scatter.axes.map((index) => data.axes[index].name);
  context.fillText(shorten(context, nameX, frame.right - frame.left), (frame.left + frame.right) / 2, frame.bottom + 31);
  context.translate(11, (frame.top + frame.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(shorten(context, nameY, frame.bottom - frame.top), 0, 0);
}

// Many rows, and a small plot, ask for small points.
function pointRadius() {
  const room = Math.min(1, Math.sqrt(box.clientWidth / 560));
  return clamp(4.6 * room * (150 / Math.max(n, 1)) ** 0.2, state.sizes.length > 8 ? 2 : 1.25, 4.6);
}

// Background first; outliers last of all, and larger.
function drawPoints(context, paint) {
  const few = n <= 4000;
  const radius = pointRadius();
  const opacity = few ? 0.92 : clamp(0.92 - 0.1 * Math.log2(n / 4000), 0.5, 0.92);
  const groups = new Map();
  for (let row = 0; row < n; row++) {
    if (Number.isNaN(scatter.x[row])) continue;
    const apart = state.labels[row] < 0;
    const layer = state.nSelected && !state.selected[row] ? 0 : apart && detects ? 3 : apart ? 1 : 2;
    const key = layer * 1000 + (apart ? 500 : 0) + paint.codeOf(row);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  for (const key of [...groups.keys()].sort((a, b) => a - b)) {
    const [layer, apart, code] = [Math.floor(key / 1000), key % 1000 >= 500, key % 500];
    const hollow = apart && !detects;
    const size = apart && detects ? clamp(1.5 * radius, 3.2, 5.5) : hollow ? radius * 0.85 : radius;
    const shape = apart && detects ? 3 : hollow ? 0 : paint.shape(code);
    context.globalAlpha = (layer === 0 ? 0.18 : 1) * (hollow && !few ? 0.7 : 1) * (layer === 3 ? 1 : opacity);
    context.fillStyle = paint.colour(code);
    context.strokeStyle = hollow ? paint.colour(code) : ink.paper;
    context.lineWidth = hollow ? 1.4 : 1.6;
    const rim = few ? layer > 0 || hollow : layer === 3; // a rim of paper around it
    for (const row of groups.get(key)) {
      outline(context, shape, scatter.x[row], scatter.y[row], size);
      if (rim) context.stroke();
      if (!(hollow && few)) context.fill();
    }
  }
}

// ---- what moves over the points

function drawMarks() {
  const { context, width, height } = fitCanvas(byId("marks"));
  context.clearRect(0, 0, width, height);
  context.lineJoin = "round";
  if (detects) data.outliers.index.subarray(0, 3).filter((row) => state.labels[row] < 0 && row !== state.found).forEach((row) => drawName(context, row));
  else if (byId("colour-by").value === "0") drawNumbers(context);
  if (scatter.rectangle) {
    const { left, top, right, bottom } = scatter.rectangle;
    context.fillStyle = context.strokeStyle = ink.accent;
    context.globalAlpha = 0.12;
    context.fillRect(left, top, right - left, bottom - top);
    context.globalAlpha = 1;
    context.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
  }
  for (const [row, colour] of [[state.hovered, ink.text], [state.found, ink.accent]]) {
    if (row < 0 || Number.isNaN(scatter.x[row])) continue;
    outline(context, 0, scatter.x[row], scatter.y[row], pointRadius() + 5);
    context.lineWidth = 2.5;
    context.strokeStyle = colour;
    context.stroke();
  }
  if (state.found >= 0) drawName(context, state.found);
}

// The name of a row beside it.
function drawName(context, row) {
  const [x, y] = [scatter.x[row], scatter.y[row]];
  if (Number.isNaN(x)) return;
  context.font = fontOf(11.5, 600);
  const cell = naming.find(({ values }) => values.length > n / 2); // tells rows apart
  const text = shorten(context, (cell && cellText(cell, row)) || rowName(row), 170);
  const right = x + 12 + context.measureText(text).width <= scatter.frame.right;
  context.textAlign = right ? "left" : "right";
  context.lineWidth = 3.5;
  context.strokeStyle = ink.paper;
  context.fillStyle = ink.text;
  context.strokeText(text, right ? x + 12 : x - 12, y);
  context.fillText(text, right ? x + 12 : x - 12, y);
}

// The number of a cluster stands at its most typical row, if there is room.
function drawNumbers(context) {
  const placed = [];
  context.font = fontOf(11.5, 650);
  context.textAlign = "center";
  state.best.slice(0, 100).forEach((row, label) => {
    const [x, y] = [scatter.x[row], scatter.y[row]];
    if (!(x >= 0) || placed.some((other) => Math.abs(other.x - x) < 20 && Math.abs(other.y - y) < 18)) return;
    placed.push({ x, y });
    const half = Math.max(9, context.measureText(String(label)).width / 2 + 5);
    context.beginPath();
    context.roundRect(x - half, y - 9, 2 * half, 18, 9);
    context.fillStyle = ink.paper;
    context.fill();
    context.lineWidth = 2;
    context.strokeStyle = colourOf(label);
    context.stroke();
    context.fillStyle = ink.text;
    context.fillText(String(label), x, y + 0.5);
  });
}

// ---- hands

const CLICK = 5; // css pixels a pointer may wander in a click
let start = null; // where a drag began

function placeOf(event) {
  const { left, top } = box.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

function point(event) {
  const { x, y } = placeOf(event);
  let [nearest, least] = [-1, 14 ** 2];
  for (let row = 0; row < n; row++) {
    const distance = (scatter.x[row] - x) ** 2 + (scatter.y[row] - y) ** 2;
    if (distance <= least) [nearest, least] = [row, distance];
  }
  hover(nearest, event);
}

function pointerMove(event) {
  if (!start) {
    point(event);
    return;
  }
  const { x, y } = placeOf(event);
  if (!scatter.rectangle && Math.hypot(x - start.x, y - start.y) <= CLICK) return;
  hover(-1);
  scatter.rectangle = { left: Math.min(x, start.x), right: Math.max(x, start.x), top: Math.min(y, start.y), bottom: Math.max(y, start.y) };
  refreshMarks();
}

function pointerUp(event) {
  const clicked = start && !scatter.rectangle;
  const { left, right, top, bottom } = scatter.rectangle ?? {};
  start = scatter.rectangle = null;
  if (clicked) {
    point(event);
    if (state.hovered >= 0) selectLabel(state.labels[state.hovered]);
    else clearSelection();
  } else {
    select((row) => scatter.x[row] >= left && scatter.x[row] <= right && scatter.y[row] >= top && scatter.y[row] <= bottom, "drawn in the plot");
  }
}

function zoom(factor, place) {
  const { left, right, top, bottom } = scatter.frame;
  const at = [(place.x - left) / (right - left), (bottom - place.y) / (bottom - top)];
  scatter.view = scatter.view.map(([low, high], side) => {
    const widest = scatter.home[side][1] - scatter.home[side][0];
    const width = clamp((high - low) * factor, widest * 1e-4, widest * 4);
    const fixed = low + at[side] * (high - low);
    return [fixed - at[side] * width, fixed + (1 - at[side]) * width];
  });
  refresh();
}

// Without a click first the wheel scrolls the page, as people expect; a pinch on a pad always zooms.
function wheel(event) {
  if (!event.ctrlKey && document.activeElement !== box) return;
  event.preventDefault();
  zoom(Math.exp(clamp(event.deltaY, -100, 100) * (event.ctrlKey ? 0.01 : 0.002)), placeOf(event));
}

// ---- one row in full, beside the pointer

const MANY = 8; // more lines than these are counted, not shown

function linesOf(row) {
  const lines = data.rarity ? [["rarer than", rarityText(row)]] : [];
  lines.push([data.strength_name, strengthText(data.strength[row])]);
  if (data.memberships) {
    const nClusters = data.memberships.length / n;
    const own = Array.from(data.memberships.subarray(row * nClusters, (row + 1) * nClusters), (value, k) => [`in cluster ${k}`, value]);
    lines.push(...own.sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, value]) => [name, strengthText(value)]));
  }
  lines.push(...data.cells.slice(0, MANY).map((cell) => [cell.name, cellText(cell, row)]));
  lines.push(...features.slice(0, MANY).map((axis) => [axis.name, valueText(axis, axis.values[row])]));
  const left = Math.max(0, data.cells.length - MANY) + Math.max(0, features.length - MANY);
  return left ? [...lines, ["", `and ${count(left, "more column")}`]] : lines;
}

function hover(row, event) {
  const tooltip = byId("tooltip");
  tooltip.hidden = row < 0;
  if (row !== state.hovered) {
    state.hovered = row;
    refreshMarks();
  }
  if (row < 0) return;
  const label = state.labels[row];
  const title = [swatch(label), element("strong", { text: rowName(row) }), element("span", { text: nameOf(label) })];
  const list = linesOf(row).flatMap(([name, value]) => [element("dt", { text: name }), element("dd", { text: value })]);
  tooltip.replaceChildren(element("p", { className: "tooltip-title", children: title }), element("dl", { children: list }));
  const { width, height } = tooltip.getBoundingClientRect();
  const [x, y] = [event.clientX, event.clientY];
  const right = x + 18 + width <= window.innerWidth - 8 ? x + 18 : x - 18 - width;
  tooltip.style.left = `${clamp(right, 8, Math.max(8, window.innerWidth - width - 8))}px`;
  tooltip.style.top = `${clamp(y + 14, 8, Math.max(8, window.innerHeight - height - 8))}px`;
}

function startScatter() {
  for (const [side, id] of [[0, "x-axis"], [1, "y-axis"]]) {
    data.axes.forEach((axis) => byId(id).append(element("option", { text: axis.name, value: axis.index })));
    byId(id).value = String(scatter.axes[side]);
    on(id, "change", () => { scatter.axes[side] = Number(byId(id).value); chooseAxes(); });
  }
  scatter.squash = byId("squash").checked = scatter.axes.some((index) => shapes[index].skewed);
  on("squash", "change", () => { scatter.squash = byId("squash").checked; chooseAxes(); });
  const choices = paintChoices();
  choices.forEach(({ name }, place) => byId("colour-by").append(element("option", { text: name, value: place })));
  on("colour-by", "change", () => { choice = choices[Number(byId("colour-by").value)].make(); refresh(); });
  choice = choices[0].make();
  on("zoom-reset", "click", showAll);
  on("scatter", "pointerdown", (event) => {
    if (event.button !== 0) return;
    box.setPointerCapture(event.pointerId);
    start = placeOf(event);
  });
  on("scatter", "pointermove", pointerMove);
  on("scatter", "pointerup", pointerUp);
  on("scatter", "pointercancel", () => { start = scatter.rectangle = null; refreshMarks(); });
  // A finger leaves as soon as it is lifted: what it asked for stays until the page moves on.
  on("scatter", "pointerleave", (event) => { if (!start && event.pointerType !== "touch") hover(-1); });
  box.addEventListener("wheel", wheel, { passive: false });
  on("scatter", "keydown", (event) => { if (event.key === "Escape") clearSelection(); });
  document.addEventListener("scroll", () => { byId("tooltip").hidden = true; }, { passive: true });
  chooseAxes();
}
