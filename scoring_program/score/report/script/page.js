// Everything here is an addition: without scripts the page shows the same numbers in the same order.

const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

// Numbers are written for people: with a true minus sign, a unit, or a dash where there is none.
const read = (cell) => {
  const text = (cell.dataset.value ?? cell.textContent).trim();
  const value = Number(text.replace("−", "-").replace(/ ?%$/, ""));
  return text !== "" && Number.isFinite(value) ? value : text.toLowerCase();
};

// Numbers first, then words, then empty cells and dashes, whatever the direction.
const rank = (value) => (typeof value === "number" ? 0 : value === "" || value === "–" ? 2 : 1);
const compare = (a, b, sign) =>
  rank(a) - rank(b) || sign * (typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0);

// <table data-sortable>: every heading that is not data-unsorted becomes a button.
for (const table of all("table[data-sortable]")) {
  const headings = all("thead th", table);
  headings.forEach((heading, column) => {
    if (heading.hasAttribute("data-unsorted")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      for (const body of table.tBodies) {
        const rows = Array.from(body.rows, (row) => [read(row.cells[column]), row]);
        rows.sort(([a], [b]) => compare(a, b, down ? -1 : 1));
        body.append(...rows.map(([, row]) => row));
      }
    });
  });
}

// <form data-filter="list" hidden>: an input named "text" searches the items below #list, a select named "status"
// keeps those with that data-status, and so on; <output> tells how many are left.
for (const form of all("form[data-filter]")) {
  const items = all("[data-item]", document.getElementById(form.dataset.filter));
  const apply = () => {
    const wanted = Array.from(form.elements).filter((field) => field.name && field.value !== "");
    const fits = (item) => wanted.every((field) => field.name === "text"
      ? item.textContent.toLowerCase().includes(field.value.toLowerCase())
      : item.dataset[field.name] === field.value);
    let shown = 0;
    for (const item of items) {
      item.hidden = !fits(item);
      shown += item.hidden ? 0 : 1;
    }
    for (const output of all("output", form)) output.textContent = `${shown} of ${items.length}`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
}

// <fieldset data-theme-switch hidden> with radio buttons "auto", "light" and "dark".
for (const choice of all("[data-theme-switch]")) {
  choice.addEventListener("change", (event) => {
    if (event.target.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = event.target.value;
  });
  choice.hidden = false;
}

// In a frame that is written rather than loaded (srcdoc), a link to a section would load the page around the frame.
if (location.protocol === "about:") {
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const section = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!section) return;
    event.preventDefault();
    for (let folded = section.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
    section.scrollIntoView();
  });
}
