// The scatter: all rows shown along two axes, what rows are coloured by, and hands on it.

const box = byId("scatter");
const scatter = {
  axes: [...data.start_axes],
  squash: false,
  scales: [LINEAR, LINEAR],
  home: [[0, 1], [0, 1]], // the range of each axis, on its scale
  view: [[0, 1], [0, 1]],
  places: [new Float64Array(n), new Float64Array(n)], // on the scales
  x: new Float32Array(n), // css pixels; NaN outside the plot
  y: new Float32Array(n),
  frame: { left: 0, top: 0, right: 1, bottom: 1 },
  rectangle: null,
};

function chooseAxes() {
  scatter.axes.forEach((index, side) => {
    const { low, high, skewed } = shapes[index];
    const scale = scaleFor(shapes[index], scatter.squash && skewed);
    scatter.scales[side] = scale;
    scatter.places[side] = Float64Array.from(data.axes[index].values, scale.forward);
    const [first, last] = [scale.forward(low), scale.forward(high)];
    const room = last > first ? (last - first) * 0.05 : Math.abs(first) * 0.5 || 0.5;
    scatter.home[side] = [first - room, last + room];
  });
  byId("squash").parentElement.hidden = !scatter.axes.some((index) => shapes[index].skewed);
  const [across, up] = scatter.axes.map((index) => data.axes[index].name);
  byId("points").setAttribute("aria-label", `Scatter of ${count(n, "row")}: ${across} across, ${up} up.`);
  showAll();
}

function showAll() {
  scatter.view = scatter.home.map((range) => [...range]);
  refresh();
}

// ---- what rows are coloured by -------------------------------------------------------------------

// A way to paint gives each row a code, each code a colour and a shape, and the legend. Code 0 is for rows
// without a cluster or a value.
const STEPS_OF_RAMP = 48;
const MOST_COLOURS = 16; // values of a column of text; the others share one colour
let choice = null;

function paintClusters() {
  const labels = labelsWithRows();
  const chips = labels.slice(0, 24).map((label) => chip(swatch(label), nameOf(label), state.sizes[label], () => selectLabel(label)));
  if (labels.length > 24) chips.push(element("li", { className: "more", text: `and ${count(labels.length - 24, "more cluster")}` }));
  if (unassignedCount() > 0) chips.push(chip(swatch(-1), nameOf(-1), unassignedCount(), () => selectLabel(-1)));
  return {
    codeOf: (row) => (state.labels[row] < 0 ? 0 : slotOf(state.labels[row]) + 1),
    colour: (code) => (code ? hueOf(code - 1) : colourOf(-1)),
    shape: (code) => (code ? shapeOf(code - 1) : 0),
    legend: chips,
  };
}

function paintNumbers(name, values, text) {
  const shape = describe(values);
  const scale = scaleFor(shape, shape.skewed);
  const [low, high] = [scale.forward(shape.low), scale.forward(shape.high)];
  const stepOf = (value) => 1 + Math.round(((scale.forward(value) - low) / (high - low || 1)) * (STEPS_OF_RAMP - 1));
  const codes = Uint8Array.from(values, (value) => (Number.isFinite(value) ? stepOf(value) : 0));
  return () => {
    const bar = element("span", { className: "ramp", "aria-hidden": "true" });
    bar.style.setProperty("--ramp", ink.ramp.join(", "));
    const missing = codes.includes(0) ? [mark(ink.unassigned, 0), element("span", { text: "missing" })] : [];
    const [first, last] = [shape.low, shape.high].map((value) => element("span", { text: text(value) }));
    return {
      codeOf: (row) => codes[row],
      colour: (code) => (code ? ink.ramp[Math.round(((code - 1) / (STEPS_OF_RAMP - 1)) * (ink.ramp.length - 1))] : ink.unassigned),
      shape: () => 0,
      legend: [element("li", { className: "ramp-line", children: [element("span", { text: name }), first, bar, last, ...missing] })],
    };
  };
}

function paintTexts({ name, values, codes }) {
  const times = new Int32Array(values.length);
  codes.forEach((code) => { times[code]++; });
  const order = Array.from(values.keys()).filter((k) => values[k].trim() && times[k]).sort((a, b) => times[b] - times[a]);
  const codeOf = new Uint8Array(values.length);
  order.slice(0, MOST_COLOURS).forEach((k, place) => { codeOf[k] = place + 1; });
  const nOther = n - order.slice(0, MOST_COLOURS).reduce((sum, k) => sum + times[k], 0);
  const choose = (code, text) => () => select((row) => codeOf[codes[row]] === code, `${name}: ${text}`);
  return () => {
    const chips = order.slice(0, MOST_COLOURS).map((k, place) => (
      chip(mark(hueOf(place), shapeOf(place)), values[k], times[k], choose(place + 1, values[k]))));
    const rest = order.length > MOST_COLOURS ? "other values" : "(empty)";
    if (nOther) chips.push(chip(mark(ink.unassigned, 0), rest, nOther, choose(0, rest)));
    return {
      codeOf: (row) => codeOf[codes[row]],
      colour: (code) => (code ? hueOf(code - 1) : ink.unassigned),
      shape: (code) => (code ? shapeOf(code - 1) : 0),
      legend: chips,
    };
  };
}

function chip(swatched, text, size, act) {
  const name = element("span", { className: "chip-name", text });
  const number = element("span", { className: "chip-size", text: grouped.format(size) });
  return element("li", { children: [button("chip", [swatched, name, number], act)] });
}

// A column of text whose cells are all numbers is one of numbers.
function choiceOfCell(cell) {
  const numbers = cell.values.map((text) => (text.trim() ? Number(text) : NaN));
  const isNumeric = numbers.some(Number.isFinite) && cell.values.every((text, k) => !text.trim() || Number.isFinite(numbers[k]));
  const make = () => (isNumeric ? paintNumbers(cell.name, Array.from(cell.codes, (code) => numbers[code]), format) : paintTexts(cell));
  return { name: cell.name, make, tells: isNumeric || (cell.values.length > 1 && cell.values.length < n) };
}

function paintChoices() {
  const rarity = { name: "rarer than", make: () => paintNumbers("rarer than", data.rarity, (value) => sharePercent(value, data.n_rows)) };
  const strength = { name: data.strength_name, make: () => paintNumbers(data.strength_name, data.strength, strengthText) };
  const columns = features.map((axis) => ({ name: axis.name, make: () => paintNumbers(axis.name, axis.values, (value) => valueText(axis, value)) }));
  const clusters = { name: detects ? "typical or outlier" : "cluster", make: () => paintClusters };
  return [clusters, data.rarity ? rarity : strength, ...columns, ...data.cells.map(choiceOfCell).filter(({ tells }) => tells)];
}

// ---- drawing -------------------------------------------------------------------------------------

function drawScatter() {
  const { context, width, height } = fitCanvas(byId("points"));
  const up = ticksBetween(scatter.scales[1], ...scatter.view[1], Math.max(2, height / 58));
  context.font = fontOf(11);
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
  acrossTexts(context, across.map((tick) => ({ text: tick.text, x: toX(tick.place) })), frame.bottom + 13, [0, width]);
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

const along = ([low, high], start, end) => (place) => start + ((place - low) * (end - start)) / (high - low);

// Many rows, and a small plot, ask for small points.
function pointRadius() {
  const room = Math.min(1, Math.sqrt(box.clientWidth / 560));
  return clamp(4.6 * room * (150 / Math.max(n, 1)) ** 0.2, state.sizes.length > 8 ? 2 : 1.25, 4.6);
}

// First the rows that stay in the background, then those that matter; outliers last of all, and larger.
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
    for (const row of groups.get(key)) {
      outline(context, shape, scatter.x[row], scatter.y[row], size);
      if (hollow && few) context.stroke();
      else {
        if ((few || layer === 3) && layer > 0) context.stroke(); // a rim of paper around it
        context.fill();
      }
    }
  }
}

// ---- what moves over the points ------------------------------------------------------------------

function drawMarks() {
  const { context, width, height } = fitCanvas(byId("marks"));
  context.clearRect(0, 0, width, height);
  context.lineJoin = "round";
  if (detects) {
    const worst = data.outliers.index.subarray(0, 3).filter((row) => state.labels[row] < 0 && row !== state.found);
    worst.forEach((row) => drawName(context, row));
  } else if (byId("colour-by").value === "0") drawNumbers(context);
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
  haloText(context, text, right ? x + 12 : x - 12, y, 3.5);
}

function haloText(context, text, x, y, width) {
  context.lineWidth = width;
  context.strokeStyle = ink.paper;
  context.strokeText(text, x, y);
  context.fillStyle = ink.text;
  context.fillText(text, x, y);
}

// Where a number may stand, beginning with the row itself.
const AROUND = [[0, 0], ...[22, 40].flatMap((far) => Array.from({ length: 8 }, (_, k) => (
  [far * Math.cos((k * Math.PI) / 4), -far * Math.sin((k * Math.PI) / 4)])))];

// The number of a cluster stands at its most typical row, or near it with a line to it; large clusters come
// first, and a number without room is left out.
function drawNumbers(context) {
  const { frame } = scatter;
  const placed = [];
  const isFree = (x, y) => x > frame.left + 8 && x < frame.right - 8 && y > frame.top + 8 && y < frame.bottom - 8
    && placed.every((other) => Math.abs(other.x - x) > 22 || Math.abs(other.y - y) > 18);
  context.font = fontOf(11.5, 650);
  context.textAlign = "center";
  for (let label = 0; label < Math.min(state.sizes.length, 100); label++) {
    const row = state.best[label];
    if (row < 0 || Number.isNaN(scatter.x[row])) continue;
    const [fromX, fromY] = [scatter.x[row], scatter.y[row]];
    const free = AROUND.find(([right, down]) => isFree(fromX + right, fromY + down));
    if (!free) continue;
    const [x, y] = [fromX + free[0], fromY + free[1]];
    placed.push({ x, y });
    context.strokeStyle = ink.text;
    context.lineWidth = 1.5;
    line(context, fromX, fromY, x, y);
    const half = Math.max(9, context.measureText(String(label)).width / 2 + 5);
    context.beginPath();
    context.roundRect(x - half, y - 9, 2 * half, 18, 9);
    context.fillStyle = ink.paper;
    context.fill();
    context.lineWidth = 2;
    context.strokeStyle = colourOf(label);
    context.stroke();
    haloText(context, String(label), x, y + 0.5, 0.1);
  }
  document.documentElement.dataset.numbered = String(placed.length);
}

// ---- hands ---------------------------------------------------------------------------------------

const CLICK = 5; // css pixels a pointer may wander in a click
let drag = null; // { start, last, moved, pans }

function placeOf(event) {
  const { left, top } = box.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

function nearestRow({ x, y }, reach) {
  let [nearest, least] = [-1, reach * reach];
  for (let row = 0; row < n; row++) {
    const distance = (scatter.x[row] - x) ** 2 + (scatter.y[row] - y) ** 2;
    if (distance <= least) [nearest, least] = [row, distance];
  }
  return nearest;
}

function point(event) {
  hover(nearestRow(placeOf(event), 14));
  if (state.hovered < 0) byId("tooltip").hidden = true;
  else showTooltip(state.hovered, event.clientX, event.clientY);
}

function letGo() {
  hover(-1);
  byId("tooltip").hidden = true;
}

function pointerMove(event) {
  if (!drag) {
    point(event);
    return;
  }
  const { start, last, pans } = drag;
  const place = placeOf(event);
  drag.moved ||= Math.hypot(place.x - start.x, place.y - start.y) > CLICK;
  drag.last = place;
  if (!drag.moved) return;
  letGo();
  if (pans) pan(place.x - last.x, place.y - last.y);
  else {
    const [left, right] = [start.x, place.x].sort((a, b) => a - b);
    const [top, bottom] = [start.y, place.y].sort((a, b) => a - b);
    scatter.rectangle = { left, right, top, bottom };
    refreshMarks();
  }
}

function pointerUp(event) {
  const rectangle = scatter.rectangle;
  const clicked = drag && !drag.moved;
  drag = null;
  scatter.rectangle = null;
  if (clicked) {
    point(event);
    if (state.hovered >= 0) selectLabel(state.labels[state.hovered]);
    else clearSelection();
  } else if (rectangle) {
    const { left, right, top, bottom } = rectangle;
    select((row) => scatter.x[row] >= left && scatter.x[row] <= right && scatter.y[row] >= top && scatter.y[row] <= bottom, "drawn in the plot");
  }
}

function pan(across, down) {
  const { left, right, top, bottom } = scatter.frame;
  const steps = [-across / (right - left), down / (bottom - top)];
  scatter.view = scatter.view.map(([low, high], side) => [low, high].map((end) => end + steps[side] * (high - low)));
  refresh();
}

function zoom(factor, place) {
  const { left, right, top, bottom } = scatter.frame;
  const at = place ? [(place.x - left) / (right - left), (bottom - place.y) / (bottom - top)] : [0.5, 0.5];
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

// ---- one row in full, beside the pointer ---------------------------------------------------------

const MANY = 8; // more lines than these are counted, not shown

function linesOf(row) {
  const lines = data.rarity ? [["rarer than", rarityText(row)]] : [];
  lines.push([data.strength_name, strengthText(data.strength[row])]);
  if (data.p_values) lines.push(["p-value", pValueText(row)]);
  if (data.memberships) {
    const nClusters = data.memberships.length / n;
    const own = Array.from(data.memberships.subarray(row * nClusters, (row + 1) * nClusters), (value, k) => [`in cluster ${k}`, value]);
    lines.push(...own.sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, value]) => [name, format(value)]));
  }
  lines.push(...data.cells.slice(0, MANY).map((cell) => [cell.name, cellText(cell, row)]));
  lines.push(...features.slice(0, MANY).map((axis) => [axis.name, valueText(axis, axis.values[row])]));
  const left = Math.max(0, data.cells.length - MANY) + Math.max(0, features.length - MANY);
  return left ? [...lines, ["", `and ${count(left, "more column")}`]] : lines;
}

function showTooltip(row, x, y) {
  const tooltip = byId("tooltip");
  const label = state.labels[row];
  const title = [swatch(label), element("strong", { text: rowName(row) }), element("span", { text: nameOf(label) })];
  const list = linesOf(row).flatMap(([name, value]) => [element("dt", { text: name }), element("dd", { text: value })]);
  tooltip.replaceChildren(element("p", { className: "tooltip-title", children: title }), element("dl", { children: list }));
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  const right = x + 18 + width <= window.innerWidth - 8 ? x + 18 : x - 18 - width;
  tooltip.style.left = `${clamp(right, 8, Math.max(8, window.innerWidth - width - 8))}px`;
  tooltip.style.top = `${clamp(y + 14, 8, Math.max(8, window.innerHeight - height - 8))}px`;
}

function startScatter() {
  for (const [side, id] of [[0, "x-axis"], [1, "y-axis"]]) {
    data.axes.forEach((axis) => byId(id).append(element("option", { text: axis.name, value: axis.index })));
    byId(id).value = String(scatter.axes[side]);
    byId(id).addEventListener("change", () => { scatter.axes[side] = Number(byId(id).value); chooseAxes(); });
  }
  scatter.squash = scatter.axes.some((index) => shapes[index].skewed);
  byId("squash").checked = scatter.squash;
  byId("squash").addEventListener("change", () => { scatter.squash = byId("squash").checked; chooseAxes(); });
  const choices = paintChoices();
  choices.forEach(({ name }, place) => byId("colour-by").append(element("option", { text: name, value: place })));
  byId("colour-by").addEventListener("change", () => { choice = choices[Number(byId("colour-by").value)].make(); refresh(); });
  choice = choices[0].make();
  byId("zoom-in").addEventListener("click", () => zoom(0.6));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 0.6));
  byId("zoom-reset").addEventListener("click", showAll);
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    box.setPointerCapture(event.pointerId);
    drag = { start: placeOf(event), last: placeOf(event), moved: false, pans: event.shiftKey };
  });
  box.addEventListener("pointermove", pointerMove);
  box.addEventListener("pointerup", pointerUp);
  box.addEventListener("pointercancel", () => { drag = null; scatter.rectangle = null; refreshMarks(); });
  // A finger leaves as soon as it is lifted: what it asked for stays until the page moves on.
  box.addEventListener("pointerleave", (event) => { if (!drag && event.pointerType !== "touch") letGo(); });
  box.addEventListener("wheel", wheel, { passive: false });
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") clearSelection(); });
  document.addEventListener("scroll", () => { byId("tooltip").hidden = true; }, { passive: true });
  chooseAxes();
}
