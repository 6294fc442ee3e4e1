// Conflicts with their merge, and plugins with the trial of a changed script.
import { action, get, h, post, say, table, value, when } from "./dom.js";

export async function conflicts() {
  const { conflicts, count } = await get("conflicts");
  if (count === 0) return h("p", {}, "No conflict is held.");
  return [
    count > conflicts.length && h("p", { class: "quiet" }, `the first ${conflicts.length} of ${count}`),
    conflicts.map(conflict),
  ];
}

function conflict(conflict) {
  const mayMerge = conflict.hasLocal && conflict.hasServer;
  const choices = new Map();
  const which = { id: conflict.id, revision: conflict.revision };
  const decide = (label, decision, attributes = {}) => action(label, "decided; the next push sends what remains",
    () => post("conflicts/resolve", { ...which, decision, ...(decision === "merge" ? { fields: chosenFields() } : {}) }),
    { "data-key": `${decision} ${conflict.id}`, ...attributes });
  const chosenFields = () => Object.fromEntries([...choices].map(([name, pick]) => [name, pick()]));
  const fields = conflict.fields.filter((field) => !field.system);
  return h("section", { class: "card", "data-conflict": conflict.id },
    h("h3", {}, `${conflict.table}/${conflict.record}: ${conflict.kind}`),
    h("p", {}, conflict.reason, " ", when(conflict.createdAt)),
    conflict.previews.map(preview),
    conflict.previews.every((preview) => preview.shadow || preview.decision === "next")
      && h("p", { class: "quiet" }, `No plugin decides it; the policy is ${conflict.policy}.`),
    table(["field", "base", "local", "server", "other value"],
      fields.map((field) => merge(field, mayMerge, choices, conflict))),
    h("div", { class: "row" },
      mayMerge && decide("Merge as chosen", "merge", { class: "main" }),
      decide("Keep local", "client"), decide("Take the server's", "server"),
      decide("Delete on both sides", "delete")));
}

// One field of the merge: what is chosen at first is what a merge by fields would take; where both sides changed it, what
// a plugin said, else nothing until someone chooses: then the server's stands.
function merge(field, mayMerge, choices, conflict) {
  const group = `${conflict.id} ${field.name}`;
  const rule = conflict.previews.flatMap((preview) => preview.rules).find((rule) => rule.field === field.name);
  const first = field.changed === "local" ? "local" : field.changed !== "both" ? "server"
    : rule?.side === "client" ? "local" : rule?.value !== undefined ? "text" : "server";
  const text = h("input", {
    type: "text", "aria-label": `${field.name}: another value, as JSON`,
    value: rule?.value ?? field.local ?? field.server ?? "",
    onfocus: (event) => { event.target.previousElementSibling.checked = true; },
  });
  const pick = (side, content) => mayMerge
    ? h("label", { class: "pick" }, h("input", {
      type: "radio", name: group, value: side, checked: side === first, "data-field": field.name, "data-side": side,
    }), content)
    : content;
  const row = {
    attributes: { "data-changed": field.changed },
    classes: [null, null, "of-local", "of-server"],
    cells: [
      [field.name, rule && h("div", { class: "quiet" }, `rule: ${rule.rule ?? "a value of the plugin"}`)],
      field.base === undefined ? "" : pick("base", value(field.base)),
      pick("local", field.local === undefined ? h("i", {}, "absent") : value(field.local)),
      pick("server", field.server === undefined ? h("i", {}, "absent") : value(field.server)),
      mayMerge ? pick("text", text) : "",
    ],
  };
  choices.set(field.name, () => {
    const side = document.querySelector(`input[name="${CSS.escape(group)}"]:checked`)?.value ?? first;
    return side === "text" ? { text: text.value } : { side };
  });
  return row;
}

function preview(preview) {
  const rules = preview.rules.map((rule) => `${rule.field} by ${rule.rule ?? "its own value"} (${rule.side ?? rule.value})`);
  return h("p", { "data-preview": preview.plugin },
    h("b", {}, preview.plugin), preview.shadow ? " (only watching)" : "", " would decide ", h("b", {}, preview.decision),
    rules.length ? `: ${rules.join(", ")}` : "", preview.reason ? `: ${preview.reason}` : "");
}

export async function plugins() {
  const all = await get("plugins");
  if (all.plugins.length === 0) return h("p", {}, "The configuration has no plugins.");
  return [
    h("h3", {}, "Order"),
    table(["chain", "plugins"], all.chains.map((chain) => ({ cells: [chain.chain,
      chain.links.map((link, index) => h("div", {}, `${index + 1}. ${link.plugin} `,
        h("span", { class: "quiet" }, link.why)))] }))),
    all.plugins.map(plugin),
    h("h3", {}, "Last decisions"),
    table(["at", "plugin", "about", "decision", "fuel"], all.decisions.map((decision) => ({ cells: [
      when(decision.at), `${decision.plugin} ${decision.hook}`,
      decision.record ? `${decision.table}/${decision.record}` : decision.table ?? "",
      [decision.decision, decision.reason ? `: ${decision.reason}` : "", decision.shadow ? " (only watching)" : ""],
      String(decision.fuel),
    ] }))),
  ];
}

const counts = (counts) => Object.entries(counts).map(([name, count]) => `${count} ${name}`).join(", ");

function plugin(plugin) {
  const place = h("div", {});
  return h("section", { class: "card", "data-plugin": plugin.name },
    h("h3", {}, `${plugin.name} ${plugin.version}, ${plugin.mode}`),
    h("p", { class: "quiet" }, `${plugin.folder}; memory ${Math.round(plugin.memory / 1024)} of `
      + `${Math.round(plugin.memoryLimit / 1024)} KiB`),
    table(["hook", "calls", "errors", "decisions", "fuel a call", "of", "ms a call"], plugin.hooks.map((hook) => ({
      cells: [hook.hook, String(hook.calls),
        h("span", { class: "bad" }, counts(hook.errors), hook.isOpen ? " not asked at present" : ""),
        counts(hook.decisions), String(hook.fuel), String(hook.budget), hook.milliseconds.toFixed(2)],
    }))),
    h("div", { class: "row" }, h("button", {
      type: "button", "data-key": `try ${plugin.name}`, onclick: () => trial(plugin.name, place),
    }, "Try a change")), place);
}

async function trial(name, place) {
  const { sources } = await get("plugins/source", { plugin: name }).catch((error) => { say(error.message); return {}; });
  if (!sources) return;
  const text = h("textarea", { rows: 16, spellcheck: "false", "aria-label": `The script of ${name}` });
  const file = h("select", { "aria-label": "File", onchange: () => { text.value = sources[file.selectedIndex].text; } },
    sources.map((source) => h("option", {}, source.path)));
  text.value = sources[0].text;
  const result = h("div", { "aria-live": "polite" });
  const run = h("button", { type: "button", class: "main", onclick: async () => {
    run.disabled = true;
    try {
      const found = await post("plugins/try", { plugin: name, path: file.value, text: text.value });
      result.replaceChildren(...outcome(found));
    } catch (error) {
      result.replaceChildren(h("p", { class: "bad" }, error.message));
    } finally {
      run.disabled = false;
    }
  } }, "Try it");
  place.replaceChildren(h("div", { class: "row" }, file, run), text, result,
    h("p", { class: "quiet" }, "Nothing serves that is tried here. A change is switched on by saving it in the plugin's "
      + "folder: the daemon runs the fixtures and loads it."));
  text.focus();
}

function outcome(found) {
  const { replay } = found;
  return [
    h("p", { class: found.isGood ? "good" : "bad", "data-outcome": found.isGood ? "good" : "bad" },
      found.isGood ? "It loads, and its fixtures pass." : "It would be refused."),
    h("pre", {}, [...found.check, ...(found.fixtures ?? [])].join("\n")),
    replay && h("p", {}, `${replay.asked} recorded decisions asked again, ${replay.changes.length} come out otherwise, `
      + `${replay.passedOver} passed over.`),
    replay && replay.changes.length > 0 && table(["decision", "record", "was", "is", "differs"],
      replay.changes.map((change) => ({ cells: [`#${change.sequence} ${change.hook}`, change.record ?? "", change.was,
        change.is, change.differences.map((line) => h("div", {}, line))] }))),
  ].filter(Boolean);
}
