// Scales: from values to places and back, and the ticks on the way.

const LINEAR = { forward: (v) => v, back: (t) => t, linear: true };

// Far values are drawn closer: straight around the centre, logarithmic far from it.
function squashAround(centre, unit) {
  return {
    forward: (v) => Math.asinh((v - centre) / unit),
    back: (t) => centre + unit * Math.sinh(t),
    linear: false,
    centre,
    unit,
  };
}

function quantiles(sorted, shares) {
  return shares.map((share) => sorted[Math.round(share * (sorted.length - 1))]);
}

// How a set of values lies: its ends, its middle, and whether a straight scale would waste the plot.
function describe(values) {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  if (sorted.length === 0) return { low: 0, high: 1, centre: 0.5, unit: 1, quarter: 0, foot: 0, skewed: false };
  const [low, foot, first, centre, third, high] = quantiles(sorted, [0, 0.05, 0.25, 0.5, 0.75, 1]);
  const quarter = (third - first) / 2;
  const unit = quarter > 0 ? quarter : (high - low) / 20 || 1;
  return { low, high, centre, unit, quarter, foot, skewed: quarter > 0 && high - low > 40 * quarter };
}

function scaleFor(shape, squashed) {
  return squashed ? squashAround(shape.centre, shape.unit) : LINEAR;
}

// A range that can be drawn: a constant gets room on both sides.
function roomFor(scale, shape, margin) {
  const low = scale.forward(shape.low);
  const high = scale.forward(shape.high);
  const room = high > low ? (high - low) * margin : Math.abs(low) * 0.5 || 0.5;
  return [low - room, high + room];
}

// The roundest number between two others, and the step it is a multiple of.
function roundest(low, high) {
  const power = Math.ceil(Math.log10(high - low));
  for (const [lead, more] of [[1, 0], [5, 1], [2, 1], [1, 1]]) {
    const step = lead * 10 ** (power - more);
    const value = multiple(Math.ceil(low / step), step);
    if (value <= high) return { value, step };
  }
  return { value: low, step: high - low };
}

const decimalsOf = (step) => clamp(-Math.floor(Math.log10(step) + 1e-9), 0, 20);

// Without the dust of binary fractions, and without -0.
const multiple = (times, step) => Number((times * step).toFixed(decimalsOf(step))) + 0;

// All digits a step asks for; large numbers of few digits, and tiny ones, with an exponent.
function tickText(value, step) {
  if (value === 0 && step < 1e-5) return "0";
  const digits = Math.ceil(Math.log10(Math.abs(value) / step || 1)) + 1;
  if (value !== 0 && (Math.abs(value) < 1e-5 || (Math.abs(value) >= 1e6 && digits <= 4))) return format(value, 4);
  const decimals = decimalsOf(step);
  return value
    .toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    .replace("-", "\u2212");
}

function linearTicks(low, high, atMost) {
  const few = steppedTicks(low, high, (high - low) / atMost);
  return few.length >= 3 ? few : steppedTicks(low, high, (high - low) / atMost / 2);
}

function steppedTicks(low, high, rough) {
  const power = Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((lead) => lead * 10 ** power >= rough * (1 - 1e-9)) * 10 ** power;
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    const value = multiple(i, step);
    ticks.push({ value, place: value, text: tickText(value, step) });
  }
  return ticks;
}

// At equal distances, each moved a little to a round number.
function squashedTicks(scale, low, high, atMost) {
  const gap = (high - low) / Math.max(1, Math.floor(atMost));
  const ticks = [];
  for (let place = low + gap / 2; place < high; place += gap) {
    const { value, step } = roundest(scale.back(place - gap / 3), scale.back(place + gap / 3));
    ticks.push({ value, place: scale.forward(value), text: tickText(value, step) });
  }
  return ticks;
}

// Ticks between two places of a scale, each with its value, its place and its text.
function ticksBetween(scale, low, high, atMost) {
  return scale.linear ? linearTicks(low, high, atMost) : squashedTicks(scale, low, high, atMost);
}
