// A key presses whatever element of the page names it in data-key. Pages work without this file.
"use strict";

let pending = Promise.resolve(); // keys wait for the page that the last one asked for

function elementFor(key) {
  return document.querySelector(`[data-key="${CSS.escape(key)}"]`);
}

function show(html, address, isForm) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const main = page.querySelector("main");
  if (!main) { location.href = address; return; }
  const position = window.scrollY;
  document.querySelector("main").replaceWith(main);
  document.title = page.title;
  const here = new URL(location.href), there = new URL(address);
  if (here.pathname === there.pathname) history.replaceState(null, "", there);
  else history.pushState(null, "", there);
  if (isForm && here.pathname === there.pathname) window.scrollTo(0, position);
  else { window.scrollTo(0, 0); main.focus({ preventScroll: true }); }
}

async function send(form, button) {
  const fields = new URLSearchParams(new FormData(form, button));
  const answer = await fetch(form.action, { method: "POST", body: fields });
  show(await answer.text(), answer.url, true);
}

async function open(link) {
  const answer = await fetch(link.href);
  show(await answer.text(), answer.url, false);
}

async function press(key) {
  const wanted = elementFor(key);
  if (!wanted) return;
  if (key === "?") { document.getElementById("help").showModal(); return; }
  if (wanted.matches("textarea")) { wanted.focus(); return; }
  if (wanted.matches("a")) await open(wanted);
  else await send(wanted.form, wanted);
}

function lost() {
  location.reload(); // the server has stopped or refused: let the browser say so
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("textarea, input, select");
  if (typing && event.key === "Escape") { typing.blur(); return; }
  if (typing && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    typing.blur();
    pending = pending.then(() => send(typing.form)).catch(lost);
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  const dialog = document.getElementById("help");
  if (dialog.open) { if (event.key === "?") dialog.close(); return; }
  if (event.key.length !== 1) return;
  event.preventDefault();
  pending = pending.then(() => press(event.key)).catch(lost);
});

document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  event.preventDefault();
  pending = pending.then(() => send(event.target, event.submitter)).catch(lost);
});

window.addEventListener("popstate", () => location.reload());
