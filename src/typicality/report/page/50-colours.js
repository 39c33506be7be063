// Colours: twice eight, of which colour-blind people tell each eight apart, and others all sixteen; the second
// eight go with another shape. All stand out from the paper of their theme by 3 to 1 at least.

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
const N_SLOTS = 32; // colours and shapes together
const OUTLIER = 3; // the place of the colour of outliers

// From low to high, in even steps of lightness that colour-blind people see too (viridis, without the end
// that is near the paper).
const RAMPS = {
  light: ["#7ad151", "#43bf70", "#22a884", "#21908d", "#2b758e", "#365c8d", "#414487", "#482677", "#440154"],
  dark: ["#414487", "#365c8d", "#2b758e", "#21908d", "#22a884", "#43bf70", "#7ad151", "#bddf26", "#fde725"],
};

function parseColour(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

const cssOf = (colour) => `rgb(${colour.join(" ")})`;

// Set by applyTheme: everything that is drawn on a canvas takes its colours from here.
const ink = { palette: [], ramp: [], unassigned: [], paper: [], line: [], text: "", faint: "", accent: "" };

const slotOf = (label) => state.slots[label] ?? label % N_SLOTS;

function colourOf(label) {
  if (label < 0) return detects ? ink.palette[OUTLIER] : ink.unassigned;
  return ink.palette[slotOf(label) % ink.palette.length];
}

// Eight clusters are discs, the next eight squares, and so on: colour alone never tells.
const SHAPES = ["disc", "square", "triangle", "diamond"];
const shapeOf = (slot) => Math.floor(slot / 8) % SHAPES.length;

// ---- a cluster keeps its colour while the level moves --------------------------------------------

const slotOfPeak = new Map(); // by its most typical row, which stays while the cluster grows

function chooseSlots({ nClusters, best }) {
  const slots = new Uint8Array(nClusters);
  const used = new Set();
  const open = [];
  for (let label = 0; label < nClusters; label++) {
    slots[label] = label % N_SLOTS;
    if (label >= N_SLOTS) continue;
    const known = slotOfPeak.get(best[label]);
    if (known !== undefined && !used.has(known)) {
      slots[label] = known;
      used.add(known);
    } else {
      open.push(label);
    }
  }
  let free = 0;
  for (const label of open) {
    while (used.has(free)) free++;
    slots[label] = free;
    used.add(free);
    slotOfPeak.set(best[label], free);
  }
  return slots;
}

// ---- light and dark ------------------------------------------------------------------------------

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");
let chosenTheme = null; // null: as the system says

function applyTheme() {
  const wanted = chosenTheme ?? (prefersDark.matches ? "dark" : "light");
  const theme = printing.matches ? "light" : wanted;
  const root = document.documentElement;
  root.dataset.theme = theme;
  const css = getComputedStyle(root);
  const read = (name) => css.getPropertyValue(name).trim();
  Object.assign(ink, {
    palette: HUES[theme].map(parseColour),
    ramp: RAMPS[theme].map(parseColour),
    unassigned: parseColour(read("--unassigned")),
    paper: parseColour(read("--plot")),
    line: parseColour(read("--grid")),
    text: read("--ink"),
    faint: read("--soft"),
    accent: read("--accent"),
  });
  byId("theme").textContent = wanted === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Switch to ${wanted === "dark" ? "light" : "dark"} colours`);
  refreshAll();
}

function startTheme() {
  byId("theme").addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme === "dark";
    chosenTheme = dark ? "light" : "dark";
    applyTheme();
  });
  prefersDark.addEventListener("change", applyTheme);
  // Printing does not wait for a frame.
  printing.addEventListener("change", () => { applyTheme(); drawWaiting(); });
  applyTheme();
}
