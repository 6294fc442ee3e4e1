internal import SluiceLua

extension PluginAPI {
    /// All hooks, in the order in which they are explained.
    package static let hooks: [Hook] = [
        hook(
            .filter, [("req", "sluice.Request"), ("next", "fun(req: sluice.Request): sluice.Response")],
            "sluice.Response",
            "Around one exchange: `next(req)` sends the request on and waits for the answer, up to three times."),
        hook(.request, [("req", "sluice.Request")], "", "Before a request is sent."),
        hook(.response, [("res", "sluice.Response")], "", "When an answer has come."),
        hook(.beforeEnqueue, [("op", "sluice.Operation")], "sluice.Operation", "Before a local write is queued."),
        hook(.beforePush, [("op", "sluice.Operation")], "", "Before a queued operation is sent."),
        hook(
            .onConflict, [("c", "sluice.Conflict")], "",
            "When the server refuses a change because the record has changed."),
        hook(.onPushError, [("e", "sluice.PushError")], "", "When an operation failed for another reason."),
        hook(.afterPull, [("rec", "sluice.Record")], "sluice.Record", "Before a pulled record is stored."),
        hook(.afterPullPage, [("page", "sluice.Page")], "", "Before a page of pulled records is stored."),
        hook(.onSchedule, [], "", "When to push and pull: see `ctx.question`."),
        hook(.onEvent, [("ev", "sluice.Event")], "", "When something has happened."),
        table(.read, "On a server: around a request that reads a table, a list or one record."),
        table(.insert, "On a server: around a request that makes a record."),
        table(.update, "On a server: around a request that changes a record, or brings a deleted one back."),
        table(.delete, "On a server: around a request that deletes a record."),
        hook(.initialize, [], "", "Once for each machine, when the plugin is loaded."),
    ]

    private static func table(_ kind: HookKind, _ text: String) -> Hook {
        hook(
            kind,
            [
                ("req", "sluice.TableRequest"),
                ("next", "fun(req: sluice.TableRequest): sluice.TableAnswer"),
            ], "sluice.TableAnswer", text)
    }

    private static func hook(
        _ kind: HookKind, _ parameters: [(name: String, type: String)], _ object: String, _ text: String
    ) -> Hook {
        let returns = [object] + (kind.decisions.isEmpty ? [] : ["sluice.Decision"])
        return Hook(
            kind: kind, parameters: parameters + [("ctx", "sluice.Context")],
            returns: returns.filter { !$0.isEmpty }.joined(separator: "|"), text: text)
    }

    /// The rules of `c:merge`, with what each does.
    static let mergeRules: [(name: String, text: String)] = [
        ("server", "the server's value"), ("client", "the local value"),
        ("newest", "the value of the side that was changed last"),
        ("oldest", "the value of the other side"),
        ("max", "the larger of two numbers or texts; asks where two numbers beyond 2^53 cannot be told apart"),
        ("min", "the smaller of two numbers or texts; asks as `max` does"),
        (
            "sum_delta",
            "the server's number and what was added here; asks where an earlier send may have taken effect, and where the sum is not exact: beyond 64 bits, or with a fraction among the numbers beyond 2^53"
        ),
        ("union", "a list with the elements of both, without those that one side took out"),
        ("concat_lines", "a text with the lines of both"),
        ("text3", "both texts merged line by line; asks where both changed the same lines"),
        ("ask", "a person decides about the operation"),
    ]
}
