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
  if (sorted.length === 0) return { low: 0, high: 1, centre: 0.5, unit: 1, skewed: false };
  const [low, first, centre, third, high] = quantiles(sorted, [0, 0.25, 0.5, 0.75, 1]);
  const quarter = (third - first) / 2;
  const unit = quarter > 0 ? quarter : (high - low) / 20 || 1;
  return { low, high, centre, unit, quarter, skewed: quarter > 0 && high - low > 40 * quarter };
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

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

function linearTicks(low, high, atMost) {
  const step = niceStep((high - low) / atMost);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    const value = Number((i * step).toFixed(Math.min(digits, 20)));
    ticks.push({ value, text: tickText(value, digits) });
  }
  return ticks;
}

function tickText(value, digits) {
  if (Math.abs(value) >= 1e6 || digits > 5) return format(value);
  return value
    .toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    .replace("-", "\u2212");
}

// On a squashed scale round numbers take turns, the roundest first, as long as there is room.
function squashedTicks(scale, low, high, atMost) {
  const ends = [scale.back(low), scale.back(high)];
  const top = Math.ceil(Math.log10(Math.max(...ends.map(Math.abs), Number.MIN_VALUE)));
  const candidates = [0];
  for (const lead of [1, 5, 2]) {
    for (let power = top; power > top - 9; power--) {
      candidates.push(lead * 10 ** power, -lead * 10 ** power);
    }
  }
  const taken = [];
  const gap = (high - low) / atMost;
  for (const value of candidates) {
    const place = scale.forward(value);
    if (place < low || place > high || taken.length > atMost) continue;
    if (taken.every((tick) => Math.abs(tick.place - place) >= gap)) {
      taken.push({ value, place, text: format(value) });
    }
  }
  return taken;
}

// Ticks between two places of a scale, each with its value, its place and its text.
function ticksBetween(scale, low, high, atMost) {
  if (!scale.linear) return squashedTicks(scale, low, high, atMost);
  return linearTicks(low, high, atMost).map((tick) => ({ ...tick, place: tick.value }));
}
