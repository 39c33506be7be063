// Hands on the scatter: pointing, dragging, zooming, and the same by keys.

const CLICK = 5; // css pixels a pointer may wander in a click
const pointers = new Map(); // pointers that are down, by id
let drag = null; // { start, last, moved, pans }
let mode = "select";

function startScatter() {
  const { box } = scatter;
  for (const [side, id] of [[0, "x-axis"], [1, "y-axis"]]) {
    const picker = byId(id);
    data.axes.forEach((axis, index) => picker.append(element("option", { text: axis.name, value: index })));
    picker.value = String(scatter.axes[side]);
    picker.addEventListener("change", () => {
      scatter.axes[side] = Number(picker.value);
      chooseAxes();
    });
  }
  scatter.squash = scatter.axes.some((axis) => shapes[axis].skewed);
  byId("squash").checked = scatter.squash;
  byId("squash").addEventListener("change", (event) => {
    scatter.squash = event.target.checked;
    chooseAxes();
  });
  byId("zoom-in").addEventListener("click", () => zoom(0.6));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 0.6));
  byId("zoom-reset").addEventListener("click", showAll);
  for (const name of ["select", "move"]) byId(`mode-${name}`).addEventListener("click", () => setMode(name));
  box.addEventListener("pointerdown", pointerDown);
  box.addEventListener("pointermove", pointerMove);
  box.addEventListener("pointerup", pointerUp);
  box.addEventListener("pointercancel", pointerCancel);
  // A finger leaves as soon as it is lifted: what it asked for stays until the page moves on.
  box.addEventListener("pointerleave", (event) => { if (!drag && event.pointerType !== "touch") letGo(); });
  document.addEventListener("scroll", hideTooltip, { passive: true });
  box.addEventListener("blur", letGo);
  box.addEventListener("wheel", wheel, { passive: false });
  box.addEventListener("keydown", scatterKey);
  chooseAxes();
}

function setMode(name) {
  mode = name;
  for (const each of ["select", "move"]) byId(`mode-${each}`).setAttribute("aria-pressed", String(each === name));
  scatter.box.dataset.mode = name;
}

function letGo() {
  hover(-1);
  hideTooltip();
}

function placeOf(event) {
  const box = scatter.box.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function nearestRow({ x, y }, reach) {
  const [screenX, screenY] = scatter.screen;
  let nearest = -1;
  let least = reach * reach;
  for (let i = 0; i < n; i++) {
    const across = screenX[i] - x;
    const up = screenY[i] - y;
    const distance = across * across + up * up;
    if (distance <= least) {
      least = distance;
      nearest = i;
    }
  }
  return nearest;
}

// ---- pointers ------------------------------------------------------------------------------------

function pointerDown(event) {
  if (event.button !== 0 && event.button !== 1) return;
  const place = placeOf(event);
  pointers.set(event.pointerId, place);
  scatter.box.setPointerCapture(event.pointerId);
  const pans = mode === "move" || event.shiftKey || event.button === 1;
  drag = pointers.size > 1 ? null : { start: place, last: place, moved: false, pans };
  if (pointers.size > 1) scatter.rectangle = null;
}

function pointerMove(event) {
  const place = placeOf(event);
  if (pointers.size === 2 && pointers.has(event.pointerId)) {
    pinch(event.pointerId, place);
  } else if (drag) {
    dragTo(place);
  } else {
    point(place, event);
  }
}

function dragTo(place) {
  const { start, last } = drag;
  drag.moved ||= Math.hypot(place.x - start.x, place.y - start.y) > CLICK;
  drag.last = place;
  if (!drag.moved) return;
  letGo();
  if (drag.pans) {
    pan(place.x - last.x, place.y - last.y);
    return;
  }
  scatter.rectangle = {
    left: Math.min(start.x, place.x),
    right: Math.max(start.x, place.x),
    top: Math.min(start.y, place.y),
    bottom: Math.max(start.y, place.y),
  };
  refresh("marks");
}

function point(place, event) {
  const row = nearestRow(place, 14);
  hover(row);
  if (row < 0) hideTooltip();
  else showTooltip(row, event.clientX, event.clientY);
}

function pointerUp(event) {
  pointers.delete(event.pointerId);
  if (!drag) return;
  const { moved, pans, last } = drag;
  const { rectangle } = scatter;
  drag = null;
  scatter.rectangle = null;
  if (!moved) clickAt(last, event);
  else if (!pans && rectangle) selectRectangle(rectangle);
}

function pointerCancel(event) {
  pointers.delete(event.pointerId);
  drag = null;
  scatter.rectangle = null;
  refresh("marks");
}

function clickAt(place, event) {
  point(place, event);
  if (state.hovered >= 0) selectLabel(state.labels[state.hovered]);
  else clearSelection();
}

function selectRectangle({ left, right, top, bottom }) {
  const [screenX, screenY] = scatter.screen;
  const rows = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const inside = screenX[i] >= left && screenX[i] <= right && screenY[i] >= top && screenY[i] <= bottom;
    rows[i] = inside ? 1 : 0;
  }
  select(rows, "drawn in the plot");
}

// ---- moving the view -----------------------------------------------------------------------------

function pan(across, up) {
  const { frame, view } = scatter;
  const steps = [-across / (frame.right - frame.left), up / (frame.bottom - frame.top)];
  scatter.view = view.map(([low, high], side) => [low, high].map((end) => end + steps[side] * (high - low)));
  refresh("scatter", "marks");
}

function zoom(factor, place) {
  const { frame, view, home } = scatter;
  const at = place
    ? [(place.x - frame.left) / (frame.right - frame.left), (frame.bottom - place.y) / (frame.bottom - frame.top)]
    : [0.5, 0.5];
  scatter.view = view.map(([low, high], side) => {
    const widest = home[side][1] - home[side][0];
    const width = clamp((high - low) * factor, widest * 1e-4, widest * 4);
    const fixed = low + at[side] * (high - low);
    return [fixed - at[side] * width, fixed + (1 - at[side]) * width];
  });
  refresh("scatter", "marks");
}

function showAll() {
  scatter.view = scatter.home.map((range) => [...range]);
  refresh("scatter", "marks");
}

// Without a click first the wheel scrolls the page, as people expect; a pinch on a pad always zooms.
function wheel(event) {
  if (!event.ctrlKey && document.activeElement !== scatter.box) return;
  event.preventDefault();
  zoom(Math.exp(clamp(event.deltaY, -100, 100) * (event.ctrlKey ? 0.01 : 0.002)), placeOf(event));
}

function pinch(id, place) {
  const [other] = [...pointers].filter(([key]) => key !== id).map(([, value]) => value);
  const before = pointers.get(id);
  pointers.set(id, place);
  const apart = (one) => Math.max(10, Math.hypot(one.x - other.x, one.y - other.y));
  pan((place.x - before.x) / 2, (place.y - before.y) / 2);
  zoom(apart(before) / apart(place), { x: (place.x + other.x) / 2, y: (place.y + other.y) / 2 });
}

// A row that is asked for elsewhere comes into view, with room around it.
function bringIntoView(row) {
  scatter.axes.forEach((_, side) => {
    const [low, high] = scatter.view[side];
    const place = scatter.places[side][row];
    if (place < low || place > high) scatter.view[side] = [...scatter.home[side]];
  });
  hover(row);
  refresh("scatter", "marks");
}

// ---- keys ----------------------------------------------------------------------------------------

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function scatterKey(event) {
  if (event.key in ARROWS) walk(ARROWS[event.key]);
  else if (event.key === "Enter" && state.hovered >= 0) selectLabel(state.labels[state.hovered]);
  else if (event.key === "+" || event.key === "=") zoom(0.6);
  else if (event.key === "-") zoom(1 / 0.6);
  else if (event.key === "0") showAll();
  else if (event.key === "Escape") { letGo(); clearSelection(); }
  else return;
  event.preventDefault();
}

// The next row in a direction: near, and not far off to the side.
function walk([across, up]) {
  const [screenX, screenY] = scatter.screen;
  const from = state.hovered;
  const start = from >= 0 ? from : nearestRow({ x: scatter.box.clientWidth / 2, y: scatter.box.clientHeight / 2 }, 1e4);
  let next = from >= 0 ? -1 : start;
  let least = Infinity;
  for (let i = 0; from >= 0 && i < n; i++) {
    const x = screenX[i] - screenX[from];
    const y = screenY[i] - screenY[from];
    const ahead = x * across + y * up;
    const aside = Math.abs(x * up) + Math.abs(y * across);
    const cost = ahead + 2.5 * aside;
    if (i !== from && ahead > 0.25 && aside <= 2 * ahead && cost < least) {
      least = cost;
      next = i;
    }
  }
  if (next < 0) return;
  hover(next);
  const box = scatter.box.getBoundingClientRect();
  showTooltip(next, box.left + screenX[next], box.top + screenY[next]);
  announce(rowInWords(next));
}
