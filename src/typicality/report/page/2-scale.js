// Scales from values to places and back, their ticks, and the colours of clusters and values.

const LINEAR = { forward: (v) => v, back: (t) => t, linear: true };

// Straight around the centre, logarithmic far from it.
const squashAround = (centre, unit) => ({
  forward: (v) => Math.asinh((v - centre) / unit),
  back: (t) => centre + unit * Math.sinh(t),
  linear: false,
});

// The ends and the middle of values, and whether a straight scale would waste the plot.
function describe(values) {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  if (sorted.length === 0) return { low: 0, high: 1, centre: 0.5, unit: 1, foot: 0, skewed: false };
  const [low, foot, first, centre, third, high] = [0, 0.05, 0.25, 0.5, 0.75, 1].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
  const quarter = (third - first) / 2;
  const unit = quarter > 0 ? quarter : (high - low) / 20 || 1;
  return { low, high, centre, unit, foot, skewed: quarter > 0 && high - low > 40 * quarter };
}

const scaleFor = (shape, squashed) => (squashed ? squashAround(shape.centre, shape.unit) : LINEAR);
// A map is never squashed.
const shapes = data.axes.map(({ values, place }) => (place ? { ...describe(values), skewed: false } : describe(values)));
const along = ([low, high], start, end) => (place) => start + ((place - low) * (end - start)) / (high - low);

// ---- ticks

// All digits a step asks for.
const tickText = (value, step) => (Math.abs(value) < step / 2 ? "0" : format(value, clamp(Math.ceil(Math.log10(Math.abs(value) / step) - 1e-9) + 1, 1, 15)));

// The roundest number between two others, and the step it is a multiple of.
function roundest(low, high) {
  const power = Math.ceil(Math.log10(high - low));
  for (const [lead, more] of [[1, 0], [5, 1], [2, 1], [1, 1]]) {
    const step = lead * 10 ** (power - more);
    const value = Math.ceil(low / step) * step;
    if (value <= high) return { value, step };
  }
  return { value: low, step: high - low };
}

function linearTicks(low, high, rough) {
  const power = Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((lead) => lead * 10 ** power >= rough * (1 - 1e-9)) * 10 ** power;
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push({ place: i * step, text: tickText(i * step, step) });
  return ticks;
}

// Ticks between two places of a scale; those of a squashed scale are at equal distances, each moved to a round number.
function ticksBetween(scale, low, high, atMost) {
  const gap = (high - low) / Math.max(1, Math.floor(atMost));
  if (scale.linear) {
    const few = linearTicks(low, high, gap);
    return few.length >= 3 ? few : linearTicks(low, high, gap / 2);
  }
  const ticks = [];
  for (let place = low + gap / 2; place < high; place += gap) {
    const { value, step } = roundest(scale.back(place - gap / 3), scale.back(place + gap / 3));
    ticks.push({ place: scale.forward(value), text: tickText(value, step) });
  }
  return ticks;
}

// ---- canvas

// A canvas in the pixels of the screen; drawn on in css pixels.
function fitCanvas(canvas) {
  const { width, height } = canvas.parentElement.getBoundingClientRect();
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.textBaseline = "middle";
  context.font = fontOf(11);
  return { context, width, height };
}

const fontOf = (size, weight = 400) => `${weight} ${size}px system-ui, sans-serif`;

function shorten(context, text, room) {
  let shown = text.replace(/\s+/g, " ");
  if (context.measureText(shown).width <= room) return shown;
  while (shown.length > 1 && context.measureText(`${shown}\u2026`).width > room) shown = shown.slice(0, -1);
  return `${shown}\u2026`;
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

// The texts of ticks along a horizontal axis that touch no other.
function acrossTexts(context, ticks, toX, y, width) {
  context.textAlign = "left";
  let free = -Infinity;
  for (const { text, place } of ticks) {
    const wide = context.measureText(text).width;
    const start = clamp(toX(place) - wide / 2, 0, width - wide);
    if (start < free) continue;
    context.fillText(text, start, y);
    free = start + wide + 8;
  }
}

// ---- colours

// Twice eight, of which colour-blind people tell each eight apart; the second eight go with another shape.
const HUES = {
  light: [
    "#106ee7", "#ce8500", "#2da17c", "#d21d12", "#1f3488", "#b660b0", "#2f7403", "#041c25",
    "#174167", "#7c4e00", "#155e48", "#5a0000", "#7f93bd", "#491442", "#4b3b2b", "#6d7b81",
  ],
  dark: [
    "#3f94e0", "#c0c400", "#39bf7f", "#f2743d", "#6fc7f3", "#ef9bc6", "#fdd92e", "#f1efe8",
    "#c4bdfb", "#f1f782", "#bcffde", "#f9c0a8", "#557c8e", "#f0d0e2", "#8b8426", "#a18ea1",
  ],
};
const OUTLIER = 3; // the place of the colour of outliers

// Viridis, from low to high, without the end that is near the paper.
const RAMPS = {
  light: ["#7ad151", "#43bf70", "#22a884", "#21908d", "#2b758e", "#365c8d", "#414487", "#482677", "#440154"],
  dark: ["#414487", "#365c8d", "#2b758e", "#21908d", "#22a884", "#43bf70", "#7ad151", "#bddf26", "#fde725"],
};

// The colours of canvases; set by applyTheme.
const ink = { hues: HUES.light, ramp: RAMPS.light };

// Eight clusters are discs, the next eight squares, and so on.
const SHAPES = ["disc", "square", "triangle", "diamond"];
const CORNERS = [
  null,
  [[-0.89, -0.89], [0.89, -0.89], [0.89, 0.89], [-0.89, 0.89]],
  [[0, -1.3], [1.17, 0.77], [-1.17, 0.77]],
  [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
];
const N_SLOTS = 32; // colours and shapes together

const slotOf = (label) => state.slots[label] ?? label % N_SLOTS;
const hueOf = (slot) => ink.hues[slot % ink.hues.length];
const shapeOf = (slot) => Math.floor(slot / 8) % SHAPES.length;

function colourOf(label) {
  if (label < 0) return detects ? ink.hues[OUTLIER] : ink.unassigned;
  return hueOf(slotOf(label));
}

function outline(context, shape, x, y, radius) {
  context.beginPath();
  if (shape === 0) context.arc(x, y, radius, 0, 2 * Math.PI);
  else CORNERS[shape].forEach(([across, down]) => context.lineTo(x + radius * across, y + radius * down));
  context.closePath();
}

// A point as it is drawn in the plot.
function mark(colour, shape, className = "") {
  const made = element("span", { className: `swatch ${SHAPES[shape]} ${className}` });
  made.style.setProperty("--colour", colour);
  return made;
}

function swatch(label) {
  if (label < 0) return detects ? mark(colourOf(label), 3) : mark(colourOf(label), 0, "hollow");
  return mark(colourOf(label), shapeOf(slotOf(label)));
}
