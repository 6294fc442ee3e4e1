// The policy from afar: what serves, its trial, and what was refused; as `sluice policy status` prints it.
import { chosen, get, h, pairs, table, when } from "./dom.js";

export async function policy() {
  const { endpoints } = await get("status");
  const endpoint = endpoints.find((one) => one.name === chosen.endpoint) ?? endpoints[0];
  const policy = endpoint?.policy;
  if (!policy) return h("p", {}, "This endpoint takes no policy from afar: it has no policy.url and no policy.table.");
  const withdrawn = Object.entries(policy.withdrawn).sort(([one], [other]) => other - one);
  const last = policy.events.find((event) => event.event === "withdrawn");
  return [
    pairs([
      ["device", policy.device],
      ["serves with", policy.serving === null ? "the installed policy" : `${policy.name} ${policy.serving}`],
      ["since", policy.servingSince && when(policy.servingSince)],
      ["stage", { trial: `version ${policy.trial} is on trial`, probation: "on probation", settled: "settled" }[policy.stage]],
      ["last return", last ? [`version ${last.version} `, when(last.at), `: ${last.reason}`]
        : withdrawn[0] && `version ${withdrawn[0][0]}: ${withdrawn[0][1]}`],
      ["refused", policy.refused && h("span", { class: "bad" }, policy.refused)],
      ["not fetched", policy.unreachable && h("span", { class: "bad" }, policy.unreachable)],
    ]),
    policy.stage === "trial" && figures("The trial", policy.trialFigures),
    policy.stage === "probation" && figures("The probation", policy.probationFigures),
    withdrawn.length > 0 && [h("h3", {}, "Withdrawn here"),
      table(["version", "why"], withdrawn.map((cells) => ({ cells })))],
    policy.events.length > 0 && [h("h3", {}, "What happened"),
      table(["at", "what", "version", "why"], policy.events.map((event) => ({
        cells: [when(event.at), event.event, event.version === null ? "" : String(event.version), event.reason ?? ""],
      })))],
  ];
}

function figures(title, tally) {
  const differences = Object.entries(tally.differences);
  return h("section", { class: "card" }, h("h3", {}, title),
    pairs([
      ["calls", String(tally.calls)], ["errors", String(tally.errors)], ["overruns", String(tally.overruns)],
      ["held", String(tally.held)], ["refused", String(tally.refused)], ["compared", String(tally.compared)],
    ]),
    differences.length > 0 && table(["difference", "times"],
      differences.map(([name, count]) => ({ cells: [name, String(count)] }))));
}
