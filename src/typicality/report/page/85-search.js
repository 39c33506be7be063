// A row that is asked for by its name or its number: it is marked in the plot, and its reasons are shown.

const MOST_FOUND = 8;
const lowered = data.cells.map((cell) => cell.values.map((text) => text.toLowerCase()));

// Rows by their number first, then by any column of text: equal, then beginning so, then holding it.
function findRows(asked) {
  const text = asked.trim().toLowerCase();
  if (!text) return [];
  const number = Number(text.replace(data.row_word.toLowerCase(), "").trim() || NaN);
  const byNumber = Number.isInteger(number) && rowOfNumber.has(number) ? [rowOfNumber.get(number)] : [];
  const worth = [];
  data.cells.forEach(({ codes }, column) => {
    const fits = lowered[column].map((value) => (value === text ? 3 : value.startsWith(text) ? 2 : value.includes(text) ? 1 : 0));
    if (!fits.some(Boolean)) return;
    for (let i = 0; i < n; i++) if (fits[codes[i]] > (worth[i] ?? 0)) worth[i] = fits[codes[i]];
  });
  const byText = Object.keys(worth).map(Number).sort((a, b) => worth[b] - worth[a] || a - b);
  return [...byNumber, ...byText.filter((row) => row !== byNumber[0])];
}

function showMatches() {
  const asked = byId("find").value;
  const found = findRows(asked);
  const buttons = found.slice(0, MOST_FOUND).map((row) => {
    const name = nameOfRow(row);
    const text = name === rowName(row) ? name : `${rowName(row)} \u00b7 ${name}`;
    const button = element("button", { type: "button", className: "chip", children: [swatch(state.labels[row]), element("span", { className: "chip-name", text })] });
    button.addEventListener("click", () => showRow(row));
    return element("li", { children: [button] });
  });
  byId("find-list").replaceChildren(...buttons);
  const more = found.length - buttons.length;
  const none = `No row has this number or holds this text${isSample ? " among the rows shown" : ""}.`;
  tell("find-words", !asked.trim() ? "" : !found.length ? none : more > 0 ? `and ${count(more, "more row")}` : "");
}

function drawFound() {
  byId("found").hidden = state.found < 0;
  byId("found").replaceChildren(...(state.found < 0 ? [] : rowCard(state.found)));
}

function startSearch() {
  const name = naming[0] ? `, ${naming[0].name}` : data.cells.length ? " or text" : "";
  byId("find").placeholder = `${data.row_word}${name}`;
  byId("find").addEventListener("input", showMatches);
  byId("find").addEventListener("keydown", (event) => {
    const [first] = event.key === "Enter" ? findRows(event.target.value) : [];
    if (first !== undefined) showRow(first);
  });
}

views.set("found", drawFound);
