// Status, tables, queue, timeline and storage.
import { action, chosen, copies, dialog, get, h, pairs, post, say, size, state, svg, table, value, when } from "./dom.js";

export async function status() {
  const status = await get("status");
  const isHeld = status.state !== "running";
  const configuration = status.configuration;
  return [
    h("div", { class: "row" },
      action("Sync now", "the run has ended", async () => {
        const { runs } = await post("daemon/sync");
        const error = runs.find((run) => run.error)?.error;
        return error ? `the run failed: ${error}` : "the run has ended";
      }, { class: "main", disabled: isHeld || chosen.readOnly }),
      action(isHeld ? "Resume" : "Pause", isHeld ? "the schedules go on" : "the schedules are held",
        () => post(isHeld ? "daemon/resume" : "daemon/pause")),
      action("Reload", "the configuration was loaded anew", () => post("daemon/reload"))),
    configuration.refused && h("p", { class: "bad" },
      "The newest configuration does not serve: ", configuration.refused.message),
    status.endpoints.map((endpoint) => h("section", { class: "card" },
      h("h3", {}, endpoint.name || endpoint.endpoint),
      endpoint.error && h("p", { class: "bad" }, endpoint.error),
      pairs([
        ["now", state(endpoint.phase)], ["next run", next(status, endpoint)],
        ["queue", endpoint.queue && queued(endpoint.queue)], ["server", endpoint.endpoint],
        ["wire", endpoint.dialect], ["store", endpoint.store],
        ["last run", endpoint.lastRun && last(endpoint.lastRun)],
        ["last sent", endpoint.lastSent && [when(endpoint.lastSent.startedAt), `: ${endpoint.lastSent.sent}`]],
        ["plugins", endpoint.plugins && `${endpoint.plugins.names.join(", ")}; ${endpoint.plugins.errors} errors`],
      ]))),
    h("p", { class: "quiet" }, `sluice ${status.version}, process ${status.process}, started `,
      when(status.startedAt), "; configuration ", configuration.path, ", loaded ", when(configuration.loadedAt)),
  ];
}

function next(status, endpoint) {
  if (status.state === "paused") return "held until someone resumes it";
  return when(endpoint.waitsUntil ?? endpoint.lastRun?.next);
}

const queued = (queue) => [
  `${queue.pending} waiting, ${queue.inFlight} under way, ${queue.parked} held, ${queue.dead} given up`,
  queue.ofOthers ? `, ${queue.ofOthers} of other users` : "",
].join("");

const last = (run) => [
  when(run.startedAt), `: ${run.sent} sent, ${run.stored} stored, ${run.deleted} deleted`,
  run.conflicts ? `, ${run.conflicts} conflicts` : "", run.error ? h("span", { class: "bad" }, ` ${run.error}`) : "",
];

export async function tables(path) {
  if (path.length > 1) return row(path[0], path[1], path[2] === "ask");
  if (path.length === 1) return rows(path[0]);
  const { tables } = await get("tables");
  return table(["table", "rows", "waiting", "pulled"], tables.map((table) => ({ cells: [
    h("a", { href: `#/tables/${encodeURIComponent(table.name)}`, "data-key": table.name }, table.name),
    String(table.rows), String(table.waiting),
    table.queries.map((query) => h("div", {}, `${query.query} by ${query.grade} `, when(query.pulledAt))),
  ] })));
}

const position = { table: "", filter: "", skip: 0 };

async function rows(name) {
  if (position.table !== name) Object.assign(position, { table: name, filter: "", skip: 0 });
  const page = await get("rows", { table: name, filter: position.filter, skip: position.skip });
  const filter = h("input", { value: position.filter, "aria-label": "Filter", "data-key": "filter", size: 36, placeholder: "text eq 'x'" });
  const go = (skip) => { position.skip = Math.max(0, skip); dispatchEvent(new Event("refresh")); };
  const last = Math.min(page.skip + page.page, page.count);
  return [
    h("p", {}, h("a", { href: "#/tables" }, "All tables"), " / ", name),
    h("form", { class: "row", onsubmit: (event) => {
      event.preventDefault();
      position.filter = filter.value;
      go(0);
    } }, filter, h("button", { "data-key": "go" }, "Filter")),
    table(["id", ...page.columns.filter((column) => column !== "id"), "waits"], page.rows.map((row) => ({ cells: [
      h("a", { href: `#/tables/${encodeURIComponent(name)}/${encodeURIComponent(row.id)}`, "data-key": `row ${row.id}` }, row.id),
      ...row.cells.filter((_, index) => page.columns[index] !== "id").map(value), row.waits ?? "",
    ] }))),
    h("div", { class: "row" },
      h("button", { type: "button", "data-key": "before", disabled: page.skip === 0, onclick: () => go(page.skip - page.page) }, "Before"),
      h("button", { type: "button", "data-key": "after", disabled: last >= page.count, onclick: () => go(page.skip + page.page) }, "After"),
      h("span", { class: "quiet" }, page.count ? `${page.skip + 1} to ${last} of ${page.count}` : "no rows")),
  ];
}

async function row(name, id, asks) {
  const row = await get("row", { table: name, id, ...(asks ? { ask: "true" } : {}) });
  const here = `#/tables/${encodeURIComponent(name)}/${encodeURIComponent(id)}`;
  return [
    h("p", {}, h("a", { href: "#/tables" }, "All tables"), " / ",
      h("a", { href: `#/tables/${encodeURIComponent(name)}` }, name), " / ", id),
    copies(row.fields),
    !row.hasBase && h("p", { class: "quiet" },
      "Base and server are kept while changes wait. ", row.asked ? "" : h("a", { href: `${here}/ask` }, "Ask the server")),
    row.asked && h("p", { class: "quiet" }, row.hasServer ? "The server was asked." : "The server has no such record."),
    row.waits > 0 && h("div", { class: "row" },
      action("Undo all changes", "the record is as the server last had it",
        () => post("queue/undo", { table: name, record: id }))),
    h("h3", {}, "What happened"),
    table(["at", "what", "text"], row.events.map((event) => ({ cells: [when(event.at), event.what, event.text] }))),
  ];
}

export async function queue() {
  const queue = await get("queue");
  const isHeld = (operation) => ["parked", "dead"].includes(operation.state);
  return [
    queue.operations.some(isHeld) && h("div", { class: "row" }, action("Retry all that are held",
      "the next push tries them again", () => post("queue/retry-all"))),
    queue.count === 0 && h("p", {}, "Nothing waits."),
    queue.count > 0 && table(["record", "change", "state", "sent", "why", "do"], queue.operations.map((operation) => ({
      attributes: { "data-operation": operation.id },
      cells: [
        h("a", { href: `#/tables/${encodeURIComponent(operation.table)}/${encodeURIComponent(operation.record)}` },
          `${operation.table}/${operation.record}`),
        [operation.kind, " ", when(operation.createdAt)],
        h("span", { class: isHeld(operation) ? "bad" : null }, state(operation.state)),
        `${operation.attempts}${operation.uncertain ? ", answer unknown" : ""}`,
        operation.reason ?? (operation.notBefore ? ["not before ", when(operation.notBefore)] : ""),
        h("div", { class: "row" }, tools(operation, isHeld(operation))),
      ],
    }))),
    queue.count > queue.operations.length && h("p", { class: "quiet" },
      `the first ${queue.operations.length} of ${queue.count}`),
    queue.audit.length > 0 && [h("h3", {}, "Given up or changed on purpose"),
      table(["at", "what", "record"], queue.audit.map((entry) => ({
        cells: [when(entry.at), `${entry.kind}: ${entry.what}`, `${entry.table}/${entry.record}`],
      })))],
  ];
}

function tools(operation, isHeld) {
  const which = { id: operation.id, revision: operation.revision };
  const key = (name) => ({ "data-key": `${name} ${operation.id}` });
  return [
    isHeld && action("Retry", "the next push tries it again", () => post("queue/retry", which), key("retry")),
    ["insert", "update"].includes(operation.kind)
      && action("Edit", "", () => { edit(operation); return false; }, { ...key("edit"), reads: true }),
    action("Discard", "it was given up; the record is as the server last had it",
      () => confirm(`Give the ${operation.kind} of ${operation.table}/${operation.record} up?`)
        && post("queue/discard", which), key("discard")),
    action("Undo record", "the record is as the server last had it",
      () => confirm(`Take back all that waits for ${operation.table}/${operation.record}?`)
        && post("queue/undo", { table: operation.table, record: operation.record }), key("undo")),
  ];
}

async function edit(operation) {
  const detail = await get("queue/operation", { id: operation.id }).catch((error) => say(error.message));
  if (!detail) return;
  const text = h("textarea", { rows: 12, "aria-label": "The record as JSON", spellcheck: "false" });
  text.value = detail.text ?? "";
  const box = dialog(`${operation.kind} of ${operation.table}/${operation.record}`,
    h("div", {}, copies(detail.fields), h("p", {}, "The whole record as it is to be sent:"), text),
    [action("Send this instead", "the next push sends it", async () => {
      await post("queue/edit", { id: operation.id, revision: detail.revision, text: text.value });
      box.close();
    }, { class: "main" })]);
}

export async function timeline() {
  const { exchanges, bodies } = await get("timeline");
  return [
    h("p", { class: "quiet" }, bodies ? "With queries and the beginnings of bodies; credentials are not kept."
      : "Without the values of queries and without bodies: inspector.bodies would keep them."),
    exchanges.length === 0 && h("p", {}, "Nothing was exchanged yet."),
    table(["at", "request", "answer", "time", "size", ...(bodies ? ["bodies"] : [])],
      exchanges.reverse().slice(0, 200).map((exchange) => ({ cells: [
        when(exchange.at),
        [h("code", {}, `${exchange.method} ${exchange.path}`), exchange.attempt > 1 ? ` attempt ${exchange.attempt}` : ""],
        h("span", { class: exchange.error || exchange.status >= 400 ? "bad" : "good" },
          exchange.error ?? String(exchange.status)),
        `${exchange.milliseconds.toFixed(1)} ms`,
        `${size(exchange.sent ?? 0)} out${exchange.received === undefined ? "" : `, ${size(exchange.received)} in`}`,
        ...(bodies ? [[exchange.request && h("pre", {}, exchange.request),
          exchange.response && h("pre", {}, exchange.response)]] : []),
      ] }))),
  ];
}

export async function figures() {
  const { endpoints } = await get("figures");
  const endpoint = endpoints.find((one) => chosen.endpoint === null || one.endpoint === chosen.endpoint);
  const samples = endpoint?.samples ?? [];
  if (samples.length === 0) return h("p", {}, "There are no figures yet.");
  return [
    chart("Store on disk", samples, (sample) => sample.bytes, size),
    chart("Changes that wait", samples, (sample) => sample.waiting, String),
    chart("Changes that are held", samples, (sample) => sample.held, String),
    chart("Lag: since the last pull", samples, (sample) => sample.lag ?? 0, (lag) => `${lag.toFixed(1)} s`),
  ];
}

function chart(title, samples, figure, words) {
  const figures = samples.map(figure);
  const most = Math.max(...figures, 1e-9);
  const points = figures.map((figure, index) =>
    `${(index / Math.max(1, figures.length - 1)) * 100},${29 - (figure / most) * 27}`);
  if (points.length === 1) points.push(`100,${points[0].split(",")[1]}`);
  const now = words(figures[figures.length - 1]);
  const text = `${title}: ${now} now, ${words(Math.max(...figures))} at most since ${samples[0].at}`;
  return h("section", {}, h("h3", {}, `${title}: ${now}`),
    svg("svg", { class: "chart", viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img", "aria-label": text },
      svg("polyline", { points: points.join(" ") })),
    h("p", { class: "quiet" }, `at most ${words(Math.max(...figures))}, since `, when(samples[0].at)));
}
