"use strict";
// A click on a heading sorts the table of operating points by that column, a second click the other way round.
(() => {
  const number = (cell) => {
    const value = parseFloat(cell.textContent.replaceAll(",", ""));
    return Number.isNaN(value) ? Infinity : value; // a dash: not finite
  };

  for (const table of document.querySelectorAll("table.points")) {
    const headings = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const up = heading.getAttribute("aria-sort") !== "ascending";
        const rows = [...body.rows].sort((a, b) => {
          const [x, y] = [number(a.cells[column]), number(b.cells[column])];
          return x === y ? 0 : (x < y ? -1 : 1) * (up ? 1 : -1);
        });
        for (const each of headings) each.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        body.append(...rows);
      });
    });
  }
})();
