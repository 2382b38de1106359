"use strict";
// Pages through all responses and opens their details. Row: key, question, answer, value, grades, system, type,
// language, tags, part at fault, review, place of the details. Texts go in as text; details were escaped when drawn.
(() => {
  const PAGE = 25, BLOCK = 50;
  const byId = (id) => document.getElementById(id);
  const rows = JSON.parse(byId("rows").textContent);
  const blocks = document.querySelectorAll("script.block");
  const words = byId("words").dataset;
  const columns = { system: 5, type: 6, language: 7, tag: 8, fault: 9 };
  const filters = Object.keys(columns).map((name) => [byId("f-" + name), columns[name]]).filter(([select]) => select);
  const text = byId("f-text"), sort = byId("f-sort"), review = byId("f-review");
  const search = rows.map((row) => (row[0] + "\n" + row[1] + "\n" + row[2]).toLowerCase());
  const unpacked = new Map();
  let found = [], page = 0;

  function put(tag, kind, content) {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    if (content !== undefined) node.textContent = content;
    return node;
  }
  const fill = (template, n, all) => template.replace("{n}", n.toLocaleString()).replace("{all}", all.toLocaleString());

  async function unpack(number) {
    const bytes = Uint8Array.from(atob(blocks[number].textContent), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }
  async function details(place) {
    if (place === null) return put("p", "case", words.absent);
    if (!("DecompressionStream" in window)) return put("p", "case", words.old);
    const number = Math.floor(place / BLOCK);
    if (!unpacked.has(number)) unpacked.set(number, unpack(number));
    const holder = put("div");
    holder.innerHTML = (await unpacked.get(number))[place % BLOCK];
    return holder;
  }

  function line(row) {
    const item = put("li"), button = put("button");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.append(put("span", "score", row[3] === null ? "–" : String(Number(row[3].toPrecision(3)))), " ");
    button.append(put("span", "case-key", row[0]), " ", put("span", "query", row[1]), put("span", "answer", row[2]));
    if (row[4]) button.append(put("span", "case-key", row[4]), " ");
    if (row[9] !== null) button.append(put("span", "chip", byId("f-fault").options[row[9] + 1].textContent), " ");
    if (row[10]) button.append(put("span", "chip", words.review));
    let body = null;
    button.addEventListener("click", async () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      if (!body) {
        body = put("div");
        item.append(body);
        body.append(await details(row[11]));
      }
      body.hidden = open;
    });
    item.append(button);
    return item;
  }

  function show() {
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(Math.max(0, page), pages - 1);
    byId("page").replaceChildren(...found.slice(page * PAGE, (page + 1) * PAGE).map((index) => line(rows[index])));
    byId("found").textContent = fill(byId("found").dataset.text, found.length, rows.length);
    byId("where").textContent = fill(byId("where").dataset.text, page + 1, pages);
    byId("previous").disabled = page === 0;
    byId("next").disabled = page === pages - 1;
  }
  function choose() {
    const wanted = text.value.trim().toLowerCase();
    found = [];
    rows.forEach((row, index) => {
      if (wanted && !search[index].includes(wanted)) return;
      if (review.checked && !row[10]) return;
      for (const [select, column] of filters) {
        if (select.value === "") continue;
        const has = row[column], number = Number(select.value);
        if (Array.isArray(has) ? !has.includes(number) : has !== number) return;
      }
      found.push(index);
    });
    if (sort.value === "best") found.reverse();
    if (sort.value === "key") found.sort((a, b) => (rows[a][0] < rows[b][0] ? -1 : 1));
    page = 0;
    show();
  }
  function turn(by) {
    page += by;
    show();
    byId("found").scrollIntoView({ block: "nearest" });
  }

  for (const [select] of filters) select.addEventListener("change", choose);
  for (const node of [sort, review]) node.addEventListener("change", choose);
  text.addEventListener("input", choose);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((node) => { node.open = true; }));
  byId("list").hidden = false;
  choose();
})();
