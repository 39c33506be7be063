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
  return clamp(4.6 * room * (150 / Math.max(n, 1)) ** 0.2, 1.25, 4.6);
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

// First the rows that stay in the background, then those that matter.
function stampRows(ratio) {
  const { pixels: { words, image }, pixelOf } = scatter;
  const stamps = makeStamps(ratio, image.width);
  const colours = Uint32Array.from({ length: state.summary.nClusters }, (_, label) => packed(colourOf(label)));
  const unassigned = packed(ink.unassigned);
  const paper = packed(ink.paper);
  const { labels, selected } = state;
  const some = state.nSelected > 0;
  for (const front of [false, true]) {
    for (let i = 0; i < n; i++) {
      const label = labels[i];
      const dim = some && !selected[i];
      const at = pixelOf[i];
      if ((some ? !dim : label >= 0) !== front || at < 0) continue;
      const kind = dim ? stamps.dim : stamps.full;
      if (label < 0) {
        stampAt(words, at, kind.ring, unassigned);
      } else {
        if (kind.halo) stampAt(words, at, kind.halo, paper);
        stampAt(words, at, kind.disc, colours[label]);
      }
    }
  }
}

function makeStamps(ratio, stride) {
  const radius = pointRadius() * ratio;
  const few = n <= 4000;
  const opacity = few ? 0.92 : clamp(0.92 - 0.1 * Math.log2(n / 4000), 0.5, 0.92);
  const ring = (share) => (few
    ? makeStamp(radius, radius - 1.5 * ratio, share, stride)
    : makeStamp(radius * 0.85, 0, share * 0.7, stride));
  return {
    full: {
      disc: makeStamp(radius, 0, opacity, stride),
      halo: few ? makeStamp(radius + 0.9 * ratio, 0, 0.75, stride) : null,
      ring: ring(opacity),
    },
    dim: { disc: makeStamp(radius * 0.9, 0, opacity * 0.16, stride), halo: null, ring: ring(opacity * 0.2) },
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
  const { marks, rectangle, screen: [screenX, screenY] } = scatter;
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
  const row = state.hovered;
  if (row >= 0 && !Number.isNaN(screenX[row])) {
    marks.beginPath();
    marks.arc(screenX[row], screenY[row], pointRadius() + 4, 0, 2 * Math.PI);
    marks.lineWidth = 2;
    marks.strokeStyle = ink.text;
    marks.stroke();
    marks.lineWidth = 1;
  }
}

// The number of a cluster stands at its most typical row: colour alone never tells.
function drawNumbers(marks) {
  if (detects) return;
  const { nClusters } = state.summary;
  const roomy = nClusters <= 12;
  marks.font = fontOf(roomy ? 12 : 11, 650);
  marks.textAlign = "center";
  marks.textBaseline = "middle";
  marks.lineJoin = "round";
  for (const { label, x, y } of numbersWithRoom(Math.min(nClusters, 100))) {
    if (roomy) drawPill(marks, x, y, label);
    marks.strokeStyle = cssOf(ink.paper);
    marks.lineWidth = roomy ? 0.1 : 3;
    marks.strokeText(String(label), x, y + 0.5);
    marks.fillStyle = ink.text;
    marks.fillText(String(label), x, y + 0.5);
  }
  marks.lineWidth = 1;
}

// Large clusters come first; a number that would cover another is left out.
function numbersWithRoom(nClusters) {
  const { screen: [screenX, screenY] } = scatter;
  const placed = [];
  for (let label = 0; label < nClusters; label++) {
    const row = state.summary.best[label];
    const [x, y] = [screenX[row], screenY[row]];
    const free = placed.every((other) => Math.abs(other.x - x) > 20 || Math.abs(other.y - y) > 14);
    if (row >= 0 && !Number.isNaN(x) && free) placed.push({ label, x, y });
  }
  return placed;
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
