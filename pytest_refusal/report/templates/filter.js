"use strict";
// Filters and sorts the outcomes; everything can be read without it.
(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const shown = document.getElementById("shown");
  const lists = [...document.querySelectorAll(".list")];
  const rows = lists.flatMap((list) =>
    [...list.children].map((row, place) => ({ row, list, place, text: null })));
  const keys = ["policy", "result", "verdict", "label", "category"];

  function matches(entry, wanted, words) {
    for (const key of keys) {
      if (wanted[key] !== "" && entry.row.dataset[key] !== wanted[key]) return false;
    }
    if (!words.length) return true;
    // Gathered at the first search, since it is the text of the whole page.
    entry.text ??= entry.row.textContent.toLowerCase();
    return words.every((word) => entry.text.includes(word));
  }

  function filter() {
    const wanted = Object.fromEntries(keys.map((key) => [key, form.elements[key]?.value ?? ""]));
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filtering = words.length > 0 || keys.some((key) => wanted[key] !== "");
    const found = new Map(lists.map((list) => [list, 0]));
    for (const entry of rows) {
      const visible = matches(entry, wanted, words);
      if (entry.row.hidden === visible) entry.row.hidden = !visible;
      if (visible) found.set(entry.list, found.get(entry.list) + 1);
    }
    let total = 0;
    for (const [list, count] of found) {
      total += count;
      const group = list.closest("details");
      if (group && filtering) group.open = count > 0;
    }
    shown.textContent = `${total} of ${rows.length} outcomes shown`;
  }

  const orders = {
    worst: (a, b) => a.place - b.place,
    id: (a, b) => compare(a.row.dataset.id, b.row.dataset.id) || a.place - b.place,
    category: (a, b) => a.row.dataset.category - b.row.dataset.category || a.place - b.place,
    confidence: (a, b) =>
      (b.row.dataset.confidence || -1) - (a.row.dataset.confidence || -1) || a.place - b.place,
  };

  function compare(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function sort() {
    const order = orders[form.elements.order.value];
    for (const list of lists) {
      list.append(...rows.filter((e) => e.list === list).sort(order).map((e) => e.row));
    }
  }

  let waiting = 0;
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (event.target.name === "order") sort();
    else waiting = setTimeout(filter, event.target.name === "text" ? 120 : 0);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { sort(); filter(); }, 0));
  form.hidden = false;
  filter();
})();
