addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
// Numeric cells are sorted as numbers; other text in natural order, 9 before 10.
const collator = new Intl.Collator("en", { numeric: true });
// A click on a heading sorts the rows of each group; rows that are set apart stay last.
for (const table of document.querySelectorAll("table")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        if ("value" in cell.dataset) return cell.dataset.value === "" ? Infinity : Number(cell.dataset.value);
        const text = cell.textContent.trim(), number = Number(text.replaceAll(",", ""));
        return text === "" || Number.isNaN(number) ? text : number;
      };
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => !row.matches(".group, .apart"));
        const compare = (a, b) => {
          if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1; // cells that are numbers come first
          return typeof a === "string" ? collator.compare(a, b) : a < b ? -1 : a > b ? 1 : 0;
        };
        rows.sort((a, b) => compare(key(a), key(b)) * (down ? -1 : 1));
        body.append(...rows, ...body.querySelectorAll(".apart"));
      }
    });
  });
}
// A long table has a filter: it shows only rows that contain some words, or whose number is above or below a bound.
for (const table of document.querySelectorAll("table")) {
  const rows = [...table.querySelectorAll("tbody tr:not(.group)")];
  if (rows.length <= 12) continue;
  const headings = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.toLowerCase());
  const numeric = table.tHead.querySelector("th.number");
  const filter = document.createElement("label"), input = document.createElement("input"), count = document.createElement("span");
  filter.className = "filter";
  input.type = "search";
  // The beginning of a heading is enough for a condition, and a long one would not fit.
  const named = (text) => text.length > 20 ? text.slice(0, Math.max(text.lastIndexOf(" ", 20), 8)) : text;
  input.placeholder = numeric ? `words, or ${named(numeric.textContent)} > 0.1` : "words";
  count.setAttribute("aria-live", "polite");
  filter.append("Show rows with", input, count);
  table.parentElement.before(filter);
  const fits = (row, condition) => {
    const [, heading, sign, bound] = condition.match(/^(.+?)\s*(>=|<=|>|<|=)\s*(-?[0-9.]+)$/) ?? [];
    const column = heading === undefined ? -1 : headings.findIndex((text) => text.startsWith(heading));
    if (column < 0) return row.textContent.toLowerCase().includes(condition);
    const { value } = row.cells[column].dataset;
    if (!value) return false;
    const difference = Number(value) - Number(bound);
    return sign === "=" ? difference === 0 : sign[0] === ">" ? difference > 0 || (sign === ">=" && difference === 0) : difference < 0 || (sign === "<=" && difference === 0);
  };
  input.addEventListener("input", () => {
    const conditions = input.value.toLowerCase().split(",").map((text) => text.trim()).filter(Boolean);
    rows.forEach((row) => { row.hidden = !conditions.every((condition) => fits(row, condition)); });
    for (const body of table.tBodies) body.hidden = [...body.querySelectorAll("tr:not(.group)")].every((row) => row.hidden);
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = conditions.length ? `${shown} of ${rows.length} rows` : "";
  });
}
