// The scatter: two axes, all rows shown, and on a second canvas what moves over them.

const scatter = {
  box: byId("scatter"),
  pixels: new Pixels(byId("points")),
  marks: byId("marks").getContext("2d"),
  axes: [...data.start_axes],
  squash: false,
  scales: [LINEAR, LINEAR],
  places: [new Float64Array(n), new Float64Array(n)], // the values of the two axes on their scales
  home: [[0, 1], [0, 1]],
  view: [[0, 1], [0, 1]],
  screen: [new Float32Array(n), new Float32Array(n)], // css pixels; NaN outside the plot
  pixelOf: new Int32Array(n), // in the buffer; -1 outside the plot
  frame: { left: 0, top: 0, right: 1, bottom: 1 },
  rectangle: null,
};

const shapes = data.axes.map((axis) => describe(axis.values));

function chooseAxes() {
  scatter.axes.forEach((axis, side) => {
    const scale = scaleFor(shapes[axis], scatter.squash && shapes[axis].skewed);
    const { values } = data.axes[axis];
    scatter.scales[side] = scale;
    for (let i = 0; i < n; i++) scatter.places[side][i] = scale.forward(values[i]);
    scatter.home[side] = roomFor(scale, shapes[axis], 0.05);
  });
  scatter.view = scatter.home.map((range) => [...range]);
  const skewed = scatter.axes.some((axis) => shapes[axis].skewed);
  byId("squash").parentElement.hidden = !skewed;
  const [across, up] = scatter.axes.map((axis) => data.axes[axis].name);
  byId("points").setAttribute("aria-label", `Scatter of ${count(n, "row")}: ${across} across, ${up} up.`);
  refresh("scatter", "marks");
}

// Many rows, and a small plot, ask for small points.
function pointRadius() {
  const room = Math.min(1, Math.sqrt(scatter.box.clientWidth / 560));
  const least = state.summary?.nClusters > 8 ? 2 : 1.25; // shapes need room
  return clamp(4.6 * room * (150 / Math.max(n, 1)) ** 0.2, least, 4.6);
}

// ---- drawing -------------------------------------------------------------------------------------

function ticksOf(side, length) {
  const [low, high] = scatter.view[side];
  return ticksBetween(scatter.scales[side], low, high, Math.max(2, Math.floor(length / 58)));
}

function drawScatter() {
  const { ratio, width, height } = fitCanvas(byId("points"));
  const { pixels } = scatter;
  const up = ticksOf(1, height);
  pixels.context.font = fontOf(11 * ratio);
  const widest = Math.max(...up.map((tick) => pixels.context.measureText(tick.text).width / ratio), 8);
  const frame = { left: Math.ceil(widest) + 30, top: 10, right: width - 10, bottom: height - 40 };
  scatter.frame = frame;
  const across = ticksOf(0, frame.right - frame.left);
  const toX = toScreen(scatter.view[0], frame.left, frame.right);
  const toY = toScreen(scatter.view[1], frame.bottom, frame.top);
  pixels.clear(ink.paper);
  const device = (value) => Math.round(value * ratio);
  for (const tick of across) {
    pixels.vertical(device(toX(tick.place)), device(frame.top), device(frame.bottom), ink.line);
  }
  for (const tick of up) {
    pixels.horizontal(device(toY(tick.place)), device(frame.left), device(frame.right), ink.line);
  }
  placeRows(ratio);
  stampRows(ratio);
  pixels.show();
  drawTicks(pixels.context, ratio, { across, up, toX, toY });
}

function toScreen([low, high], start, end) {
  const factor = (end - start) / (high - low);
  return (place) => start + (place - low) * factor;
}

const fontOf = (size, weight = 400) => `${weight} ${size}px system-ui, -apple-system, "Segoe UI", sans-serif`;

// A level that moves leaves the rows where they are.
function placeRows(ratio) {
  const { frame, view, places, screen, pixelOf } = scatter;
  const stride = byId("points").width;
  const key = JSON.stringify([frame, view, scatter.axes, scatter.squash, ratio, stride]);
  if (key === scatter.placed) return;
  scatter.placed = key;
  const ends = [[frame.left, frame.right], [frame.bottom, frame.top]];
  const factor = ends.map(([start, end], side) => (end - start) / (view[side][1] - view[side][0]));
  const [x, y] = places;
  const [screenX, screenY] = screen;
  for (let i = 0; i < n; i++) {
    const across = frame.left + (x[i] - view[0][0]) * factor[0];
    const up = frame.bottom + (y[i] - view[1][0]) * factor[1];
    const inside = across >= frame.left && across <= frame.right && up >= frame.top && up <= frame.bottom;
    screenX[i] = inside ? across : NaN;
    screenY[i] = up;
    pixelOf[i] = inside ? Math.round(up * ratio) * stride + Math.round(across * ratio) : -1;
  }
}

// First the rows that stay in the background, then those that matter; outliers last of all, and larger.
function stampRows(ratio) {
  const { pixels: { words, image }, pixelOf } = scatter;
  const stamps = makeStamps(ratio, image.width);
  const { codes } = paint;
  const colours = Uint32Array.from({ length: Math.max(N_SLOTS, STEPS_OF_RAMP) + 1 }, (_, code) => packed(colourOfCode(code)));
  const shapes = Uint8Array.from(colours, (_, code) => shapeOfCode(code));
  const paper = packed(ink.paper);
  const { labels, selected } = state;
  const some = state.nSelected > 0;
  for (const layer of detects ? [0, 1, 2] : [0, 1]) {
    for (let i = 0; i < n; i++) {
      const at = pixelOf[i];
      if (at < 0) continue;
      const dim = some && !selected[i];
      const apart = labels[i] < 0;
      const own = dim || (apart && !detects && !some) ? 0 : apart && detects ? 2 : 1;
      if (own !== layer) continue;
      const kind = dim ? stamps.dim : stamps.full;
      const colour = colours[codes[i]];
      if (apart && !detects) {
        stampAt(words, at, kind.ring, colour);
      } else {
        const shape = apart ? kind.outlier : kind.shapes[shapes[codes[i]]];
        if (shape.halo) stampAt(words, at, shape.halo, paper);
        stampAt(words, at, shape.body, colour);
      }
    }
  }
}

function makeStamps(ratio, stride) {
  const radius = pointRadius() * ratio;
  const few = n <= 4000;
  const opacity = few ? 0.92 : clamp(0.92 - 0.1 * Math.log2(n / 4000), 0.5, 0.92);
  const ring = (share) => (few
    ? makeStamp(0, radius, radius - 1.5 * ratio, share, stride)
    : makeStamp(0, radius * 0.85, 0, share * 0.7, stride));
  const each = (size, share, halo) => SHAPES.map((_, shape) => ({
    body: makeStamp(shape, size, 0, share, stride),
    halo: halo ? makeStamp(shape, size + 0.9 * ratio, 0, 0.75, stride) : null,
  }));
  const large = clamp(1.5 * radius, 3.2 * ratio, 5.5 * ratio);
  return {
    full: { shapes: each(radius, opacity, few), outlier: each(large, 1, true)[3], ring: ring(opacity) },
    dim: { shapes: each(radius * 0.9, opacity * 0.16, false), outlier: each(large, 0.2, false)[3], ring: ring(opacity * 0.2) },
  };
}

function drawTicks(context, ratio, { across, up, toX, toY }) {
  const { frame } = scatter;
  const names = scatter.axes.map((axis) => data.axes[axis].name);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = ink.faint;
  context.font = fontOf(11);
  context.textBaseline = "middle";
  context.textAlign = "center";
  let free = -Infinity;
  for (const tick of across) {
    const half = context.measureText(tick.text).width / 2;
    if (toX(tick.place) - half < free) continue;
    context.fillText(tick.text, toX(tick.place), frame.bottom + 13);
    free = toX(tick.place) + half + 8;
  }
  context.textAlign = "right";
  for (const tick of up) context.fillText(tick.text, frame.left - 7, toY(tick.place));
  context.textAlign = "center";
  context.fillStyle = ink.text;
  context.font = fontOf(12, 500);
  const middle = (frame.left + frame.right) / 2;
  context.fillText(shorten(context, names[0], frame.right - frame.left), middle, frame.bottom + 31);
  context.translate(11, (frame.top + frame.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(shorten(context, names[1], frame.bottom - frame.top), 0, 0);
  context.setTransform(1, 0, 0, 1, 0, 0);
}

function shorten(context, text, room) {
  let shown = text.replace(/\s+/g, " ");
  if (context.measureText(shown).width <= room) return shown;
  while (shown.length > 1 && context.measureText(`${shown}\u2026`).width > room) shown = shown.slice(0, -1);
  return `${shown}\u2026`;
}

// ---- what moves over the points ------------------------------------------------------------------

function drawMarks() {
  const { ratio, width, height } = fitCanvas(byId("marks"));
  const { marks, rectangle } = scatter;
  marks.setTransform(ratio, 0, 0, ratio, 0, 0);
  marks.clearRect(0, 0, width, height);
  drawNumbers(marks);
  if (rectangle) {
    const { left, top, right, bottom } = rectangle;
    marks.fillStyle = ink.accent;
    marks.globalAlpha = 0.12;
    marks.fillRect(left, top, right - left, bottom - top);
    marks.globalAlpha = 1;
    marks.strokeStyle = ink.accent;
    marks.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
  }
  if (state.hovered !== state.found) drawRing(marks, state.hovered, ink.text);
  drawRing(marks, state.found, ink.accent);
  if (state.found >= 0) drawName(marks, state.found, []);
}

function drawRing(marks, row, colour) {
  const { screen: [screenX, screenY] } = scatter;
  if (row < 0 || Number.isNaN(screenX[row])) return;
  marks.beginPath();
  marks.arc(screenX[row], screenY[row], pointRadius() + 5, 0, 2 * Math.PI);
  marks.lineWidth = 2.5;
  marks.strokeStyle = colour;
  marks.stroke();
  marks.lineWidth = 1;
}

// The number of a cluster stands at its most typical row, or near it with a line to it: colour alone never
// tells. Of outliers the three worst are named.
function drawNumbers(marks) {
  marks.textBaseline = "middle";
  marks.lineJoin = "round";
  if (detects) {
    const taken = [];
    Array.from(data.outliers.index.subarray(0, 3)).filter((row) => state.labels[row] < 0 && (!state.nSelected || state.selected[row]) && row !== state.found)
      .forEach((row) => drawName(marks, row, taken));
    return;
  }
  if (paint.choice.values || paint.choice.cell) return; // numbers of clusters would explain other colours
  const { nClusters } = state.summary;
  const roomy = nClusters <= 40;
  marks.font = fontOf(nClusters <= 12 ? 12 : 11, 650);
  marks.textAlign = "center";
  const numbers = numbersWithRoom(Math.min(nClusters, 100), roomy);
  document.documentElement.dataset.numbered = String(numbers.length);
  for (const { label, x, y, fromX, fromY } of numbers) {
    if (x !== fromX || y !== fromY) drawLeader(marks, fromX, fromY, x, y);
    if (roomy) drawPill(marks, x, y, label);
    marks.strokeStyle = cssOf(ink.paper);
    marks.lineWidth = roomy ? 0.1 : 3;
    marks.strokeText(String(label), x, y + 0.5);
    marks.fillStyle = ink.text;
    marks.fillText(String(label), x, y + 0.5);
  }
  marks.lineWidth = 1;
}

// The name of a row beside it, where it covers no other name and stays inside.
function drawName(marks, row, taken) {
  const { frame, screen: [screenX, screenY] } = scatter;
  const [x, y] = [screenX[row], screenY[row]];
  if (Number.isNaN(x)) return;
  marks.font = fontOf(11.5, 600);
  const text = shorten(marks, nameOfRow(row), 170);
  const wide = marks.measureText(text).width;
  const left = x + 12 + wide <= frame.right;
  const box = { left: left ? x + 12 : x - 12 - wide, y, wide };
  if (taken.some((other) => Math.abs(other.y - y) < 14 && box.left < other.left + other.wide && other.left < box.left + wide)) return;
  taken.push(box);
  marks.textAlign = "left";
  marks.lineWidth = 3.5;
  marks.strokeStyle = cssOf(ink.paper);
  marks.strokeText(text, box.left, y);
  marks.fillStyle = ink.text;
  marks.fillText(text, box.left, y);
  marks.lineWidth = 1;
}

// Where a number may stand, beginning with the row itself.
const AROUND = [[0, 0], ...[22, 40].flatMap((far) => Array.from({ length: 8 }, (_, k) => (
  [far * Math.cos((k * Math.PI) / 4), -far * Math.sin((k * Math.PI) / 4)])))];

// Large clusters come first; a number that would cover another moves aside, or is left out.
function numbersWithRoom(nClusters, mayMove) {
  const { frame, screen: [screenX, screenY] } = scatter;
  const placed = [];
  const isFree = (x, y) => x > frame.left + 8 && x < frame.right - 8 && y > frame.top + 8 && y < frame.bottom - 8
    && placed.every((other) => Math.abs(other.x - x) > 22 || Math.abs(other.y - y) > 18);
  for (let label = 0; label < nClusters; label++) {
    const row = state.summary.best[label];
    if (row < 0 || Number.isNaN(screenX[row])) continue;
    const [fromX, fromY] = [screenX[row], screenY[row]];
    const free = AROUND.slice(0, mayMove ? undefined : 1).find(([right, down]) => isFree(fromX + right, fromY + down));
    if (free) placed.push({ label, x: fromX + free[0], y: fromY + free[1], fromX, fromY });
  }
  return placed;
}

function drawLeader(marks, fromX, fromY, x, y) {
  marks.beginPath();
  marks.moveTo(fromX, fromY);
  marks.lineTo(x, y);
  marks.lineWidth = 1.5;
  marks.strokeStyle = ink.text;
  marks.stroke();
}

function drawPill(marks, x, y, label) {
  const half = Math.max(9, marks.measureText(String(label)).width / 2 + 5);
  marks.beginPath();
  marks.roundRect(x - half, y - 9, 2 * half, 18, 9);
  marks.fillStyle = cssOf(ink.paper);
  marks.fill();
  marks.lineWidth = 2;
  marks.strokeStyle = cssOf(colourOf(label));
  marks.stroke();
}

views.set("scatter", drawScatter);
views.set("marks", drawMarks);
