"use strict";
// A click on a column's heading sorts its table; without this script the tables are as complete.
const number = (text) => {
  const bare = text.replace(/[,%<> s]/g, "").replace("\u2212", "-");
  return bare !== "" && !isNaN(bare) ? Number(bare) : null;
};
const before = (a, b) => {
  const x = number(a), y = number(b);
  if (x !== null && y !== null) return x - y;
  if ((x === null) !== (y === null)) return x === null ? 1 : -1;
  return a.localeCompare(b, undefined, { numeric: true });
};
for (const table of document.querySelectorAll(".scroll table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [row.cells[column].textContent, row]);
      rows.sort((a, b) => (down ? before(b[0], a[0]) : before(a[0], b[0])));
      table.tBodies[0].append(...rows.map((pair) => pair[1]));
    });
  });
}
