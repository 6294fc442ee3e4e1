import SluiceCore

@testable import SluiceLua
@testable import SluicePluginTools

/// The page of the documentation that says what plugins have: docs/plugins-api.md.
enum PluginAPIPage {
    /// The page, as Markdown.
    static var text: String {
        ([start, hooks, rules] + PluginAPI.parts.map(part) + [globals]).joined(separator: "\n\n") + "\n"
    }

    private static let start = """
        # The plugin API

        What hooks are called with, and what is there for scripts, in version \(PluginAPI.version). This page is made
        from the same description as the editor's stubs (`sluice plugin stubs`), and a test holds both against a machine.

        Objects live as long as their call: kept and used later they raise an error. A value inside an object (a list, a
        nested object) reads as a table of its own: to change it, assign the whole value. JSON's null reads as `json.null`, and
        what is missing as nil. Names after which `?` stands may be missing or nil.
        """

    private static var hooks: String {
        var lines = [
            "## Hooks", "",
            "`main.lua` returns a table of functions by these names, those that `plugin.json` declares.", "",
            "| hook | when | may wait | returns |", "|---|---|---|---|",
        ]
        for hook in PluginAPI.hooks {
            let parameters = hook.parameters.map(\.name).joined(separator: ", ")
            let object: String? =
                switch hook.kind {
                case .filter: "the answer of `next(req)`"
                case .beforeEnqueue: "nothing, `op`"
                case .afterPull: "nothing, `rec`"
                case .toWire, .fromWire: "the value"
                case .read, .insert, .update, .delete: "the answer of `next(req)`"
                default: "nothing"
                }
            let answers = ([object].compactMap { $0 } + hook.kind.decisions.map { "`\($0)`" }).joined(separator: ", ")
            lines.append(
                "| `\(hook.kind.rawValue)(\(parameters))` | \(hook.text) | \(hook.kind.mayWait ? "yes" : "no") | \(answers) |"
            )
        }
        lines += [
            "",
            "The last names of a line are decisions, made by `decide.NAME`. Where an object was written to, that counts whether it is\nreturned or not; of a conflict's records, which are copies, only in `decide.merge`.",
        ]
        return lines.joined(separator: "\n")
    }

    private static var rules: String {
        let rows = PluginAPI.mergeRules.map { "| `\($0.name)` | \($0.text) |" }
        return """
            ## Rules of `c:merge`

            A rule is one of these names, or a function `(client, server, base)` that returns the value, and no decision;
            nil leaves the server's. A field without a rule leaves the conflict to the next handler.

            A rule is asked about a field that both sides changed, to different values. What one side alone changed is that side's,
            except for the fields of the table `always`: `c:merge { always = { high = "max" }, default = "server" }` keeps the
            larger `high` also where one side alone has lowered it. A field has its rule in one of the two places.
            `sum_delta`, `union`, `concat_lines` and `text3` come to that side's value there anyhow.

            | rule | the field becomes |
            |---|---|
            \(rows.joined(separator: "\n"))
            """
    }

    private static var globals: String {
        let rows = PluginAPI.globals.map { member in
            "| `\(member.name)(\(member.parameters.map(\.name).joined(separator: ", ")))` | \(member.text) |"
        }
        return """
            ## Functions

            Beside these there are the functions of Lua, guarded:
            [plugins-policy.md](plugins-policy.md#functions-that-are-gone) names those that are gone.

            | | |
            |---|---|
            \(rows.joined(separator: "\n"))
            """
    }

    private static func part(_ part: PluginAPI.Part) -> String {
        let rows = part.members.map { member -> String in
            let parameters = member.parameters.map(\.name).joined(separator: ", ")
            let name: String
            switch member.form {
            case .field(let isWritable): name = "`\(member.name)`\(isWritable ? " ✎" : "")"
            case .method: name = "`:\(member.name)(\(parameters))`"
            case .function: name = "`.\(member.name)(\(parameters))`"
            }
            let type =
                member.type.isEmpty ? "" : "`\(member.type.replacing("sluice.", with: "").replacing("|", with: "\\|"))`"
            return "| \(name) | \(type) | \(member.text) |"
        }
        let isWritable = part.members.contains { $0.form == .field(isWritable: true) }
        return """
            ## `\(part.name)`

            \(part.text)\(isWritable ? " ✎ stands after what can be assigned." : "")

            | | type | |
            |---|---|---|
            \(rows.joined(separator: "\n"))
            """
    }
}
