"use strict";
// Opens, filters and sorts the outcomes; everything can be read without it.
(() => {
  const form = document.getElementById("filter");
  const status = document.getElementById("shown");
  const [POLICY, RESULT, CATEGORY, VERDICT, LABEL, CONFIDENCE] = [0, 1, 2, 3, 4, 5];
  const KEYS = { policy: POLICY, result: RESULT, category: CATEGORY, verdict: VERDICT, label: LABEL };

  const lists = [...document.querySelectorAll(".list")].map((list) => {
    const blocks = [...list.children].map((element) => ({ element, entries: [] }));
    let place = 0;
    for (const block of blocks) {
      for (const row of block.element.children) {
        const is = row.getAttribute("data-is").split(" ");
        block.entries.push({ row, is, place: place++, text: null, shown: true });
      }
    }
    return { list, blocks, group: list.closest("details") };
  });
  const entries = lists.flatMap((list) => list.blocks.flatMap((block) => block.entries));

  function textOf(entry) {
    return (entry.text ??= entry.row.textContent.toLowerCase());
  }

  function matcher() {
    const wanted = Object.entries(KEYS)
      .map(([name, key]) => [key, form.elements[name]?.value ?? ""])
      .filter(([, value]) => value !== "");
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length && !words.length) return null;
    return (entry) =>
      wanted.every(([key, value]) => entry.is[key] === value) &&
      words.every((word) => textOf(entry).includes(word));
  }

  function filter() {
    const matches = matcher();
    let total = 0;
    for (const { blocks, group } of lists) {
      let inList = 0;
      for (const { element, entries } of blocks) {
        let count = 0;
        for (const entry of entries) {
          const shown = matches === null || matches(entry);
          if (entry.shown !== shown) entry.row.hidden = !shown;
          entry.shown = shown;
          if (shown) count += 1;
        }
        element.hidden = count === 0;
        element.style.setProperty("--rows", count);
        inList += count;
      }
      if (group && matches) group.open = inList > 0;
      total += inList;
    }
    status.textContent = `${total} of ${entries.length} outcomes shown`;
  }

  const byPlace = (a, b) => a.place - b.place;
  const orders = {
    worst: byPlace,
    id: (a, b) => compare(nameOf(a), nameOf(b)) || byPlace(a, b),
    category: (a, b) => a.is[CATEGORY] - b.is[CATEGORY] || byPlace(a, b),
    confidence: (a, b) => stated(b) - stated(a) || byPlace(a, b),
  };

  function compare(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function nameOf(entry) {
    return (entry.name ??= entry.row.firstElementChild.children[1].textContent);
  }

  function stated(entry) {
    return entry.is[CONFIDENCE] === "-" ? -1 : Number(entry.is[CONFIDENCE]);
  }

  function sort() {
    for (const { list, blocks } of lists) {
      // Out of the page, thousands of rows move in half the time.
      const place = list.nextSibling, parent = list.parentNode;
      list.remove();
      const sorted = blocks.flatMap((block) => block.entries).sort(orders[form.elements.order.value]);
      for (const block of blocks) {
        block.entries = sorted.splice(0, block.entries.length);
        block.element.replaceChildren(...block.entries.map((entry) => entry.row));
      }
      parent.insertBefore(list, place);
    }
    filter();
  }

  function open(row, isOpen) {
    row.classList.toggle("open", isOpen);
    row.firstElementChild.setAttribute("aria-expanded", isOpen);
    if (isOpen) row.lastElementChild.removeAttribute("hidden");
    else row.lastElementChild.setAttribute("hidden", "until-found");
  }

  // Another part of the page, or of the world, names an outcome.
  function follow() {
    const row = document.getElementById(location.hash.slice(1));
    if (!row?.matches(".outcome")) return;
    // Else a page that is loaded again goes back to where it stood.
    history.scrollRestoration = "manual";
    if (row.hidden) {
      for (const name of [...Object.keys(KEYS), "text"]) {
        if (form.elements[name]) form.elements[name].value = "";
      }
      filter();
    }
    const group = row.closest("details");
    if (group) group.open = true;
    open(row, true);
    row.firstElementChild.focus({ preventScroll: true });
    row.scrollIntoView();
  }

  // The first search is as quick as the others, since each row's text is at hand by then.
  function prepare(deadline, next = 0) {
    while (next < entries.length && deadline.timeRemaining() > 1) {
      const { row } = entries[next];
      if (!row.classList.contains("open")) row.firstElementChild.setAttribute("aria-expanded", false);
      textOf(entries[next++]);
    }
    if (next < entries.length) whenIdle((later) => prepare(later, next));
  }

  function whenIdle(run) {
    if (window.requestIdleCallback) requestIdleCallback(run);
    else setTimeout(run, 0, { timeRemaining: () => Infinity });
  }

  let isWaiting = false;
  form.addEventListener("input", (event) => {
    if (event.target.name === "order") return sort();
    if (isWaiting) return;
    isWaiting = true;
    // Keys that are struck faster than the screen is drawn are taken together.
    requestAnimationFrame(() => {
      isWaiting = false;
      filter();
    });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(sort, 0));
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".outcome > a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link.parentElement, !link.parentElement.classList.contains("open"));
  });
  // The browser's own search found something in a row that is closed.
  document.addEventListener("beforematch", (event) => open(event.target.closest(".outcome"), true));
  window.addEventListener("hashchange", follow);

  document.documentElement.classList.add("live");
  form.hidden = false;
  filter();
  follow();
  whenIdle(prepare);
})();
