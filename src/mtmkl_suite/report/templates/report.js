"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Sort by a column: numbers by value, all else as text; cells by their verdict's text.
  const key = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    const text = cell.dataset.sort ?? cell.textContent.trim();
    const number = parseFloat(text.replace("\u2212", "-").replace(/^[<\s]+/, ""));
    return Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b);
  for (const table of all("table.sortable")) {
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)));
        body.append(...(down ? rows.reverse() : rows));
      });
    });
  }

  // What is off stands in the address, so that a link or a reload has it.
  const address = new URLSearchParams(location.search);
  const keep = () => {
    const query = address.toString();
    history.replaceState(null, "", `${query ? `?${query}` : location.pathname}${location.hash}`);
  };
  const choices = (title, key, names, changed) => {
    const group = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = title;
    group.append(legend);
    for (const name of names) {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = !address.getAll(key).includes(name);
      if (!box.checked) changed(name, false);
      box.addEventListener("change", () => {
        const off = address.getAll(key).filter((each) => each !== name);
        address.delete(key);
        for (const each of box.checked ? off : [...off, name]) address.append(key, each);
        keep();
        changed(name, box.checked);
      });
      label.append(box, " ", name);
      group.append(label);
    }
    return group;
  };

  // Verdicts: what is not chosen fades in tables, and leaves lists.
  const place = document.getElementById("filters");
  const judged = all("[data-verdict]").filter((each) => each.dataset.verdict);
  const verdicts = [...new Set(judged.map((each) => each.dataset.verdict))];
  if (place && verdicts.length > 1) {
    place.append(choices("Show verdicts", "verdict", verdicts, (name, shown) => {
      for (const each of judged) {
        if (each.dataset.verdict !== name) continue;
        if (each.tagName === "DETAILS") each.hidden = !shown;
        else each.classList.toggle("faded", !shown);
      }
    }));
  }

  // Methods: rows and columns on and off, in all tables of a paper.
  for (const paper of all("section.paper-part")) {
    const marked = all("[data-method]", paper);
    const names = [...new Set(marked.flatMap((each) => each.dataset.method.split("|")))];
    const target = paper.querySelector(".method-choice");
    if (!target || names.length < 2) continue;
    const off = new Set();
    target.append(choices("Show methods", "method", names, (name, shown) => {
      if (shown) off.delete(name); else off.add(name);
      for (const each of marked) {
        each.hidden = each.dataset.method.split("|").some((one) => off.has(one));
      }
    }));
  }

  // What stands behind a number, by pointer and by keyboard: one tab stop for a table.
  const line = document.getElementById("value");
  for (const table of all("table.numbers")) {
    const cells = all("td.cell", table);
    const stay = (cell) => {
      for (const each of cells) each.tabIndex = each === cell ? 0 : -1;
    };
    if (cells.length) stay(cells[0]);
    for (const cell of cells) {
      const show = () => { line.textContent = cell.dataset.details; };
      const clear = () => { line.textContent = ""; };
      cell.addEventListener("mouseenter", show);
      cell.addEventListener("mouseleave", clear);
      cell.addEventListener("focus", () => { stay(cell); show(); });
      cell.addEventListener("blur", clear);
    }
    table.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      let cell = event.target.closest("td");
      if (!step || !cell) return;
      event.preventDefault();
      const target = () => cells.find((each) => cell.contains(each));
      do {
        const row = step[0] ? (step[0] < 0 ? cell.parentElement.previousElementSibling : cell.parentElement.nextElementSibling) : cell.parentElement;
        cell = row && row.cells[cell.cellIndex + step[1]];
      } while (cell && (!target() || cell.hidden || cell.parentElement.hidden));
      if (cell) target().focus();
    });
  }

  // On narrow screens numbers and verdicts are a matrix of colours, if it fits; a row of
  // many columns is a list, each value with its heading; and what is long is folded.
  const narrow = matchMedia("(max-width: 44rem)");
  const stack = () => {
    for (const table of all(".scroll table")) {
      const heads = all("thead tr:last-child > *", table).map((each) => each.innerText.replace(/[↕↑↓]/, "").trim());
      table.classList.remove("stacked", "compact");
      const frame = table.closest(".scroll");
      const isWide = () => frame.scrollWidth > frame.clientWidth + 1;
      const isMatrix = table.matches(".numbers");
      let many = narrow.matches && (isWide() || (!isMatrix && heads.length > 3));
      if (many && isMatrix) {
        table.classList.add("compact");
        many = isWide();
        table.classList.toggle("compact", !many);
      }
      table.classList.toggle("stacked", many);
      if (!many) continue;
      for (const cell of all("tbody td", table)) cell.dataset.label = heads[cell.cellIndex] ?? "";
    }
  };
  narrow.addEventListener("change", stack);
  stack();
  if (narrow.matches) {
    for (const fold of all("details.fold").reverse()) fold.open &&= fold.offsetHeight < 250;
  }

  // All words of a search are in what is found; a number is not part of another.
  const test = (word) => (/^\d+\w*$/.test(word)
    ? (text) => new RegExp(`(?<![\\d.])${word}(?!\\d|\\.\\d)`).test(text)
    : (text) => text.includes(word));
  for (const place of all(".find")) {
    const [field, count] = [place.querySelector("input"), place.querySelector("p")];
    const entries = all("li", place).map((each) => [each, each.textContent.toLowerCase()]);
    const look = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean).map(test);
      let found = 0;
      for (const [each, text] of entries) {
        const fits = words.length > 0 && words.every((fit) => fit(text));
        each.hidden = !fits || ++found > 40;
      }
      count.textContent = !words.length ? "" : found ? `${found} found${found > 40 ? ", the first 40 shown" : ""}` : count.dataset.empty;
      address.delete("find");
      if (field.value) address.set("find", field.value);
    };
    place.hidden = false;
    field.value = address.get("find") ?? "";
    look();
    field.addEventListener("input", () => { look(); keep(); });
  }

  // A link to something that is folded unfolds it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") each.open = true;
    }
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  const contents = document.querySelector("nav.contents details");
  if (contents && matchMedia("(max-width: 75rem)").matches) contents.open = false;
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details.fold:not([open])");
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
})();
