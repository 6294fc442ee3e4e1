// Making elements, and asking the daemon. No text of a record ever becomes markup: children are text nodes.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(6).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// The endpoint that is looked at; its name is empty where the configuration has a single one.
export const chosen = { endpoint: null, readOnly: false };

async function answer(response) {
  const json = await response.json().catch(() => ({}));
  if (!response.ok) {
    const error = new Error(json.error?.message ?? `the daemon answered with ${response.status}`);
    throw Object.assign(error, { status: response.status });
  }
  return json;
}

export async function get(name, parameters = {}) {
  const query = new URLSearchParams(parameters);
  if (chosen.endpoint !== null) query.set("endpoint", chosen.endpoint);
  return answer(await fetch(`api/${name}?${query}`));
}

export async function post(name, body = {}) {
  if (chosen.endpoint !== null) body = { endpoint: chosen.endpoint, ...body };
  return answer(await fetch(`api/${name}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  }));
}

// The key of what has, or last had, the focus in the view.
let focused;
addEventListener("focusin", (event) => {
  if (event.target.closest("main")) focused = event.target.dataset.key;
});

// Gives the focus to what has the key, else to the view: it is never nowhere.
export function focus(key = focused) {
  const main = document.getElementById("main");
  const found = key && main.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);
  (found || main).focus({ preventScroll: !found });
}

// The states of changes and of an endpoint, in words.
const states = { pending: "waiting", inFlight: "under way", parked: "held", dead: "given up",
  needsAttention: "needs attention" };
export const state = (name) => states[name] ?? name;

let hiding;
export function say(text) {
  const message = document.getElementById("message");
  // Above an open dialog nothing of the page is seen, or read out.
  const open = document.querySelector("dialog[open]");
  (open ?? document.body).append(message);
  message.textContent = text;
  message.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { message.hidden = true; }, 6000);
}

// A button that does something, says what came of it, and has the view drawn anew.
export function action(label, done, work, attributes = {}) {
  return h("button", {
    type: "button", "data-key": attributes["data-key"] ?? label,
    disabled: chosen.readOnly && !attributes.reads, ...attributes,
    onclick: async (event) => {
      const button = event.currentTarget;
      button.disabled = true;
      try {
        const said = await work();
        if (said === false) return;
        say(typeof said === "string" ? said : done);
        dispatchEvent(new Event("refresh"));
      } catch (error) {
        say(error.message);
        // Refused because something has changed since: the view shows it as it is now, and not what was typed.
        if (error.status === 409) dispatchEvent(new Event("refresh"));
      } finally {
        button.disabled = false;
      }
    },
  }, label);
}

// A dialog; when it is closed, what had the focus gets it again, or what has taken its place in the view.
export function dialog(title, content, buttons) {
  const element = document.getElementById("dialog");
  const key = focused;
  const close = h("button", { type: "button", onclick: () => element.close() }, "Close");
  element.onclose = () => {
    document.body.append(document.getElementById("message"));
    focus(key);
  };
  element.replaceChildren(h("h2", {}, title), content, h("div", { class: "row" }, buttons, close));
  element.setAttribute("aria-label", title);
  element.showModal();
  return element;
}

// A table with a heading for each column; at phone width each row is a block with its headings beside the values.
export function table(headings, rows, attributes = {}) {
  const cells = (row) => row.cells.map((cell, index) =>
    h("td", { "data-label": headings[index], class: row.classes?.[index] }, cell));
  return h("div", { class: "scroll" }, h("table", { class: "stack", ...attributes },
    h("thead", {}, h("tr", {}, headings.map((heading) => h("th", { scope: "col" }, heading)))),
    h("tbody", {}, rows.map((row) => h("tr", row.attributes ?? {}, cells(row))))));
}

export const value = (text) => (text === undefined || text === null ? "" : h("span", { class: "value" }, text));

export function when(text) {
  if (!text) return "";
  const seconds = Math.round((new Date(text) - Date.now()) / 1000);
  const size = Math.abs(seconds);
  const words = size < 60 ? `${size} s` : size < 3600 ? `${Math.round(size / 60)} min`
    : size < 172800 ? `${Math.round(size / 3600)} h` : `${Math.round(size / 86400)} days`;
  return h("time", { datetime: text, title: text }, size > 315000000 ? "when someone resumes it"
    : seconds > 0 ? `in ${words}` : `${words} ago`);
}

export function size(bytes) {
  return bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KiB`
    : `${(bytes / 1048576).toFixed(1)} MiB`;
}

export const pairs = (entries) => h("dl", { class: "pairs" },
  entries.filter(([, text]) => text !== "" && text !== null && text !== undefined)
    .map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));

// A record's copies side by side.
export function copies(fields) {
  return table(["field", "base", "local", "server", "changed"], fields.map((field) => ({
    attributes: { "data-changed": field.changed, class: field.system ? "system" : null },
    classes: [null, null, "of-local", "of-server", "quiet"],
    cells: [field.name, value(field.base), value(field.local), value(field.server),
      { no: "", local: "here", server: "at the server", same: "both, alike", both: "both" }[field.changed]],
  })));
}
