// The level: the slider, the number, and the histogram with the cut on it share one scale.

const STEPS = 1000;
const EDGE = 10; // css pixels beside the plots of the level: half the thumb of the slider

const levels = makeLevels();

// Typicalities may differ in late digits only, and clusters part close to the emptiest place: the
// scale begins there, and widens what is near.
function makeLevels() {
  const shape = describe(data.strength);
  const low = lowestLevel(shape);
  const near = Math.max(shape.foot - low, (shape.high - low) / 1000) || 1;
  const scale = data.kind === "tree" ? squashAround(low, near) : scaleFor(shape, shape.skewed);
  const ends = [scale.forward(low), scale.forward(shape.high)];
  if (!(ends[1] > ends[0])) ends[1] = ends[0] + 1;
  return { scale, low: ends[0], width: ends[1] - ends[0] };
}

// Below all rows, and below the last place where groups of them meet, unless that is far away.
function lowestLevel({ low, foot, high }) {
  if (!(high > low)) return high - (Math.abs(high) / 2 || 0.5);
  if (detects) return low;
  if (data.kind === "memberships") return Math.min(0, low);
  const last = data.tree.saddleAlpha.at(-1) ?? low;
  const lowest = clamp(last, low - 0.5 * (high - low), low);
  return Math.max(0, lowest - Math.max(0.1 * (foot - lowest), 0.002 * (high - lowest)));
}

const shareOf = (level) => clamp((levels.scale.forward(level) - levels.low) / levels.width, 0, 1);

// No more digits than the slider has steps: what the page shows is what it uses.
function digitsAt(share) {
  const at = (part) => levels.scale.back(levels.low + part * levels.width);
  const step = Math.abs(at(share + 0.5 / STEPS) - at(share - 0.5 / STEPS));
  return clamp(Math.ceil(-Math.log10(step || 1e-15)), 0, 15);
}

function levelAt(share) {
  const inside = clamp(share, 0, 1);
  return Number(levels.scale.back(levels.low + inside * levels.width).toFixed(digitsAt(inside)));
}

// Four digits at least: a level of the fit need not stand at a step of the slider.
function rounded(value) {
  const leading = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  return Number(value.toFixed(clamp(Math.max(digitsAt(shareOf(value)), 3 - leading), 0, 15)));
}

const strengthText = (value) => (Number.isFinite(value) ? String(rounded(value)).replace("-", "\u2212") : "");

// Where the line stands while each cluster has a level of its own: between them.
const fittedLevel = data.cut ?? middleLevel();

function middleLevel() {
  const own = (data.levels ?? []).filter(Number.isFinite).sort((a, b) => a - b);
  return own.length ? own[own.length >> 1] : levelAt(0);
}

const shownLevel = () => state.level ?? fittedLevel;
const hasOneLevel = () => state.level !== null || data.cut !== null;

// ---- the histogram -------------------------------------------------------------------------------

const N_BINS = 72;
const binOf = Uint8Array.from(data.strength, (value) => Math.min(N_BINS - 1, Math.floor(shareOf(value) * N_BINS)));
const levelPlot = { box: byId("histogram"), canvas: byId("histogram").querySelector("canvas") };

// Rows of each bin by colour; unassigned rows come first, at the bottom.
function countBins() {
  const counts = new Int32Array(N_BINS * (N_SLOTS + 1));
  for (let i = 0; i < n; i++) {
    const label = state.labels[i];
    counts[binOf[i] * (N_SLOTS + 1) + (label < 0 ? 0 : state.slots[label] + 1)]++;
  }
  return counts;
}

function drawHistogram() {
  const { ratio, width, height } = fitCanvas(levelPlot.canvas);
  const context = levelPlot.canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const frame = { left: EDGE, right: width - EDGE, top: 20, bottom: height - 22 };
  drawBars(context, frame);
  drawLevelTicks(context, frame);
  drawCut(context, frame);
}

function drawBars(context, frame) {
  const counts = countBins();
  const totals = Array.from({ length: N_BINS }, (_, bin) => (
    counts.subarray(bin * (N_SLOTS + 1), (bin + 1) * (N_SLOTS + 1)).reduce((sum, one) => sum + one, 0)));
  const tallest = Math.max(...totals, 1);
  const wide = (frame.right - frame.left) / N_BINS;
  const tall = (frame.bottom - frame.top) / tallest;
  totals.forEach((total, bin) => {
    // A single row must be seen beside a bin of thousands.
    const factor = total * tall < 1.5 && total > 0 ? 1.5 / total : tall;
    let y = frame.bottom;
    for (let slot = 0; slot <= N_SLOTS; slot++) {
      const rows = counts[bin * (N_SLOTS + 1) + slot];
      if (!rows) continue;
      context.fillStyle = cssOf(slot === 0 ? colourOf(-1) : ink.palette[(slot - 1) % ink.palette.length]);
      context.globalAlpha = slot === 0 && !detects ? 0.55 : 1;
      context.fillRect(frame.left + bin * wide, y - rows * factor, Math.max(wide - 1, 0.6), rows * factor);
      y -= rows * factor;
    }
  });
  context.globalAlpha = 1;
}

function drawLevelTicks(context, frame) {
  context.strokeStyle = cssOf(ink.line);
  context.beginPath();
  context.moveTo(frame.left, frame.bottom + 0.5);
  context.lineTo(frame.right, frame.bottom + 0.5);
  context.stroke();
  context.fillStyle = ink.faint;
  context.font = fontOf(11);
  context.textBaseline = "middle";
  const across = frame.right - frame.left;
  const ticks = ticksBetween(levels.scale, levels.low, levels.low + levels.width, Math.max(2, across / 80));
  let free = -Infinity;
  context.textAlign = "left";
  for (const tick of ticks) {
    const wide = context.measureText(tick.text).width;
    const x = frame.left + ((tick.place - levels.low) / levels.width) * across - wide / 2;
    const start = clamp(x, 0, frame.right + EDGE - wide);
    if (start < free) continue;
    context.fillText(tick.text, start, frame.bottom + 12);
    free = start + wide + 8;
  }
}

// One line where there is one level; a mark in the colour of each cluster where there are many.
function drawCut(context, frame) {
  const across = frame.right - frame.left;
  if (state.level === null && data.levels) {
    data.levels.forEach((level, label) => {
      context.fillStyle = cssOf(colourOf(label));
      const x = frame.left + shareOf(level) * across;
      context.beginPath();
      context.moveTo(x, frame.top + 2);
      context.lineTo(x - 5, frame.top - 7);
      context.lineTo(x + 5, frame.top - 7);
      context.fill();
      context.fillRect(x - 0.75, frame.top, 1.5, frame.bottom - frame.top);
    });
  }
  const x = frame.left + shareOf(shownLevel()) * across;
  context.strokeStyle = ink.text;
  context.fillStyle = ink.text;
  context.lineWidth = hasOneLevel() ? 2 : 1;
  context.setLineDash(hasOneLevel() ? [] : [3, 4]);
  context.beginPath();
  context.moveTo(x, 14);
  context.lineTo(x, frame.bottom + 4);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.arc(x, 9, 6, 0, 2 * Math.PI);
  if (hasOneLevel()) context.fill();
  else context.stroke();
}

// ---- words and controls --------------------------------------------------------------------------

const LEVEL_WORDS = {
  tree: "Connected rows above the level form a cluster; the other rows are unassigned.",
  memberships: "Rows at or below the level are unassigned. Level 0 shows the clusters of the fit.",
  typicality: "Rows below the threshold are outliers.",
};

function drawLevel() {
  const level = shownLevel();
  const slider = byId("alpha");
  const words = `${strengthText(level)}: ${answer()}`;
  slider.value = String(Math.round(shareOf(level) * STEPS));
  slider.setAttribute("aria-valuetext", words);
  levelPlot.box.setAttribute("aria-valuenow", String(level));
  levelPlot.box.setAttribute("aria-valuetext", words);
  if (document.activeElement !== byId("alpha-value")) {
    byId("alpha-value").value = !hasOneLevel() ? "" : String(state.level ?? rounded(level));
  }
  byId("level-now").textContent = state.level === null ? data.fitted_words : `${detects ? "Threshold" : "Cut at"} ${strengthText(level)}`;
  byId("automatic").disabled = state.level === null;
  tell("certainty", state.level === null ? `How sure? ${data.certainty}` : "");
}

function startLevel() {
  tell("histogram-words", `${isSample ? "Rows shown," : "Rows"} by ${data.strength_name}`);
  byId("level-words").textContent = `${data.strength_words} ${LEVEL_WORDS[data.kind]}`;
  byId("level-heading").textContent = detects ? "The threshold" : "The level";
  byId("level-name").textContent = detects ? "Threshold" : "Level";
  byId("automatic").textContent = data.kind === "tree" && data.cut === null
    ? "Back to the automatic clusters" : detects ? "Back to the fitted threshold" : "Back to the fitted clusters";
  levelPlot.box.setAttribute("aria-valuemin", String(levelAt(0)));
  levelPlot.box.setAttribute("aria-valuemax", String(levelAt(1)));
  byId("alpha").addEventListener("input", (event) => moveLevel(levelAt(event.target.valueAsNumber / STEPS)));
  byId("alpha-value").addEventListener("input", (event) => {
    if (Number.isFinite(event.target.valueAsNumber)) moveLevel(event.target.valueAsNumber);
  });
  byId("alpha-value").addEventListener("change", () => refresh("level"));
  byId("automatic").addEventListener("click", () => { setLevel(null); announceAnswer(); });
  byId("min-size-field").hidden = data.kind !== "tree";
  if (!nodesCountRows) byId("min-size-name").textContent = "Smallest cluster (weight)";
  byId("min-size").value = String(state.minSize);
  byId("min-size").addEventListener("input", (event) => {
    if (event.target.valueAsNumber >= 1) setMinSize(event.target.valueAsNumber);
  });
  startHistogramDrag();
}

function moveLevel(level) {
  setLevel(level);
  announceAnswer();
}

const announceAnswer = () => requestAnimationFrame(() => announce(`${byId("level-now").textContent}. ${answer()}`));

function startHistogramDrag() {
  const { box } = levelPlot;
  const follow = (event) => {
    const { left, width } = box.getBoundingClientRect();
    moveLevel(levelAt((event.clientX - left - EDGE) / (width - 2 * EDGE)));
  };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    box.setPointerCapture(event.pointerId);
    follow(event);
  });
  box.addEventListener("pointermove", (event) => { if (box.hasPointerCapture(event.pointerId)) follow(event); });
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -5, ArrowDown: -5, ArrowRight: 5, ArrowUp: 5, PageDown: -50, PageUp: 50, Home: -STEPS, End: STEPS }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    moveLevel(levelAt(shareOf(shownLevel()) + step / STEPS));
  });
}

views.set("histogram", drawHistogram);
views.set("level", drawLevel);
