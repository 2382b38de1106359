// Sends a form as JSON and shows the stream of events. Every text is set as text, so nothing a document says can act.
"use strict";

const element = (id) => document.getElementById(id);
const words = document.body.dataset;

function item(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  made.dir = "auto";
  if (className) made.className = className;
  return made;
}

function paragraphs(text) {
  const parts = text.split(/\n\s*\n/).map((part) => part.trim()).filter(Boolean);
  return parts.map((part, index) => ({ id: String(index + 1), text: part }));
}

function showStage(event) {
  const time = event.ms === null ? "" : ` ${event.ms.toFixed(1)} ms`;
  element("stages").append(item("li", `${event.stage}: ${event.status}${time}`));
}

function showResult(found) {
  const value = found.confidence.value === null ? "–" : found.confidence.value.toFixed(2);
  const limit = found.limiting ? ` · ${words.limiting}: ${found.limiting}` : "";
  element("verdict").textContent = `${words.tier}: ${found.tier} · ${words.confidence}: ${value}${limit}`;
  element("verdict").className = `tier-${found.tier}`;
  element("text").textContent = found.text;
  for (const claim of found.claims) element("claims").append(item("li", `${claim.mark}: ${claim.text}`, claim.mark));
  for (const signal of found.signals) {
    const row = document.createElement("tr");
    const number = signal.value === null ? "–" : signal.value.toFixed(2);
    row.append(item("th", signal.name), item("td", number));
    row.append(item("td", [signal.detail, signal.reason].filter(Boolean).join("; ")));
    element("signals").append(row);
  }
}

function showError(error) {
  element("verdict").textContent = [error.message, ...error.problems].join("\n");
  element("verdict").className = "tier-abstain";
}

function take(block) {
  const kind = /^event: (.*)$/m.exec(block);
  const data = /^data: (.*)$/m.exec(block);
  if (!kind || !data) return;
  const body = JSON.parse(data[1]);
  if (kind[1] === "stage") showStage(body);
  else if (kind[1] === "result") showResult(body);
  else showError(body.error);
}

async function read(response) {
  const decoder = new TextDecoder();
  let rest = "";
  for (let reader = response.body.getReader(), part = await reader.read(); !part.done; part = await reader.read()) {
    rest += decoder.decode(part.value, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    blocks.forEach(take);
  }
}

async function send(path, body) {
  for (const id of ["claims", "signals", "stages"]) element(id).replaceChildren();
  element("text").textContent = "";
  element("verdict").className = "";
  element("verdict").textContent = words.waiting;
  element("result").hidden = false;
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
  try {
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    if (response.ok) await read(response);
    else showError((await response.json()).error);
  } catch (problem) {
    showError({ message: String(problem), problems: [] });
  }
}

function on(id, path, bodyOf) {
  const form = element(id);
  if (!form) return;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    await send(path, bodyOf(new FormData(form)));
    button.disabled = false;
  });
}

on("ask", "/assess", (data) => ({ query: data.get("query") }));
on("check", "/check", (data) => ({
  query: data.get("query"),
  answer: data.get("answer"),
  passages: paragraphs(data.get("passages")),
}));
