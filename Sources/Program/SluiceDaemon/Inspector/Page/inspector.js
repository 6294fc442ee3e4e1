// The frame: which view is shown, when it is drawn anew, and the keys.
import { chosen, dialog, focus, get, h, say, state } from "./dom.js";
import { figures, queue, status, tables, timeline } from "./views.js";
import { conflicts, plugins } from "./decisions.js";
import { policy } from "./policy.js";

const views = [
  ["status", "Status", status, true], ["tables", "Tables", tables, false], ["queue", "Queue", queue, true],
  ["conflicts", "Conflicts", conflicts, false], ["plugins", "Plugins", plugins, false],
  ["timeline", "Timeline", timeline, true], ["storage", "Storage", figures, true], ["policy", "Policy", policy, true],
];
const main = document.getElementById("main");
const links = views.map(([name, title], index) =>
  h("a", { href: `#/${name}`, title: `Key ${index + 1}`, "data-view": name }, title));
document.querySelector("nav").append(...links);

const place = () => location.hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
let drawing = 0;

async function draw(isNew, isDone = false) {
  const [name, ...path] = place();
  const view = views.find((view) => view[0] === name) ?? views[0];
  const turn = ++drawing;
  for (const link of links) {
    if (link.dataset.view === view[0]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${view[1]} · Sluice inspector`;
  try {
    await head();
    const content = await view[2](path);
    if (turn !== drawing) return;
    // What has the focus keeps it; a button that has just done something is disabled, and has lost it.
    const isInside = main.contains(document.activeElement) || (isDone && document.activeElement === document.body);
    main.replaceChildren(h("h2", {}, view[1]), h("div", {}, content));
    main.dataset.view = view[0];
    if (isNew) main.focus();
    else if (isInside && !document.getElementById("dialog").open) focus();
  } catch (error) {
    if (turn === drawing) say(error.message);
  }
}

async function head() {
  const status = await get("status");
  chosen.readOnly = status.readOnly;
  const endpoint = status.endpoints.find((endpoint) => endpoint.name === chosen.endpoint) ?? status.endpoints[0];
  document.getElementById("state").textContent = [status.state, state(endpoint?.phase ?? "")].filter((word, index, all) => word && all.indexOf(word) === index).join(", ");
  const waiting = endpoint?.queue ? endpoint.queue.parked + endpoint.queue.dead : 0;
  links[2].replaceChildren("Queue", ...(waiting ? [" ", h("span", { class: "count" }, String(waiting))] : []));
  const box = document.getElementById("endpoints");
  if (status.endpoints.length < 2 || box.childElementCount) return;
  chosen.endpoint ??= status.endpoints[0].name;
  box.append(h("select", {
    "aria-label": "Endpoint", onchange: (event) => { chosen.endpoint = event.target.value; draw(true); },
  }, status.endpoints.map((endpoint) => h("option", { value: endpoint.name }, endpoint.name))));
}

const isBusy = () => document.hidden || document.getElementById("dialog").open
  || ["INPUT", "TEXTAREA", "SELECT"].includes(document.activeElement?.tagName);

addEventListener("hashchange", () => draw(true));
addEventListener("refresh", () => draw(false, true));
setInterval(() => {
  const view = views.find((view) => view[0] === place()[0]) ?? views[0];
  if (!isBusy()) view[3] ? draw(false) : head().catch((error) => say(error.message));
}, 3000);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || document.getElementById("dialog").open) return;
  if (["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) return;
  const view = views[Number(event.key) - 1];
  if (view) location.hash = `#/${view[0]}`;
  else if (event.key === "r") draw(false);
  else if (event.key === "j" || event.key === "k") {
    const stops = [...main.querySelectorAll("a, button:not(:disabled), input, select, textarea")];
    const index = stops.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
    stops[Math.max(0, Math.min(stops.length - 1, index))]?.focus();
  } else if (event.key === "?") {
    dialog("Keys", h("p", {}, "1 to 8: the views. j and k: the next and the one before. r: draw again. ?: this."), []);
  } else return;
  event.preventDefault();
});

draw(true);
