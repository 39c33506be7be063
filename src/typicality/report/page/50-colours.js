// Colours: eight that colour-blind people tell apart (after Okabe and Ito), in three lightnesses.

const HUES = {
  light: ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#bfae00", "#26323b"],
  dark: ["#3f94e0", "#e69f00", "#1fb98d", "#f2743d", "#93d5f5", "#dd96be", "#f0e442", "#f1efe8"],
};
const N_SLOTS = 24;

function mix(colour, other, share) {
  return colour.map((part, i) => Math.round(part + (other[i] - part) * share));
}

function parseColour(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

function paletteOf(theme) {
  const base = HUES[theme].map(parseColour);
  const deep = base.map((colour) => mix(colour, [0, 0, 0], theme === "light" ? 0.4 : 0.42));
  const pale = base.map((colour) => mix(colour, [255, 255, 255], theme === "light" ? 0.45 : 0.5));
  return theme === "light" ? [...base, ...deep, ...pale] : [...base, ...pale, ...deep];
}

const cssOf = (colour) => `rgb(${colour.join(" ")})`;

// Set by applyTheme: everything that is drawn on a canvas takes its colours from here.
const ink = { palette: [], nowhere: [], paper: [], line: [], text: "", faint: "", accent: "" };

function colourOf(label) {
  return label < 0 ? ink.nowhere : ink.palette[state.slots[label] ?? label % N_SLOTS];
}

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
    palette: paletteOf(theme),
    nowhere: parseColour(read("--nowhere")),
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
