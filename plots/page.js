"use strict";

// What a cell is sorted by: its number where it begins with one, else its text; nothing comes last.
function valueOf(row, column) {
  const text = row.cells[column] ? row.cells[column].textContent.trim() : "";
  const number = parseFloat(text.replace(/^~|,/g, ""));
  return text === "" ? null : /^~?[-\d.]/.test(text) && !isNaN(number) ? number : text.toLowerCase();
}

// Down or up: numbers come before words, both before nothing.
function compare(a, b, down) {
  const rank = value => value === null ? 2 : typeof value === "number" ? 0 : 1;
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return a === b ? 0 : (a < b) === down ? 1 : -1;
}

// A click on a head sorts by its column, a second one the other way round.
function sortBy(head) {
  const table = head.closest("table"), body = table.tBodies[0], column = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = Array.from(body.rows, row => [valueOf(row, column), row]);
  rows.sort((a, b) => compare(a[0], b[0], down));
  body.append(...rows.map(pair => pair[1]));
}

// Shows the rows of matrices whose names contain the text, and opens the parts that have such rows.
function find(text) {
  const wanted = text.trim().toLowerCase();
  let hits = 0;
  for (const row of document.querySelectorAll("table.winners tbody tr, table.matrices tbody tr")) {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    hits += !row.hidden && row.closest("#winners") !== null;
  }
  for (const part of document.querySelectorAll("#winners, details.set")) {
    const there = part.querySelector(".winners tbody tr:not([hidden]), .matrices tbody tr:not([hidden])");
    part.hidden = wanted !== "" && !there;
    part.open = wanted !== "" && there !== null;
  }
  document.body.classList.toggle("searching", wanted !== "");
  document.getElementById("hits").textContent =
    wanted === "" ? "" : hits + (hits === 1 ? " result" : " results");
}

function findHash() {
  const found = location.hash.match(/^#find=(.*)$/);
  if (!found) return;
  let text = found[1];
  try { text = decodeURIComponent(text); } catch (error) { /* as it is */ }
  document.querySelector("#find input").value = text;
  find(text);
}

for (const head of document.querySelectorAll("thead th")) {
  head.tabIndex = 0;
  head.addEventListener("click", () => sortBy(head));
  head.addEventListener("keydown", event => { if (event.key === "Enter") sortBy(head); });
}
document.querySelector("#find input").addEventListener("input", event => find(event.target.value));
window.addEventListener("hashchange", findHash);
findHash();
