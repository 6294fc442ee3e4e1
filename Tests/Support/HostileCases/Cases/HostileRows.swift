/// Rows and pages of the cases, as texts of JSON.
enum HostileRows {
    /// A time after the cursor of a client that is in step, and before all that the honest server will change.
    static let time = "2023-11-14T22:13:00.000Z"
    /// The latest time to which a cursor moves, whatever rows bear.
    static let latest = "2023-11-14T22:13:01.000Z"

    /// A good row.
    static func row(
        _ id: String, text: String = "new", at time: String = time, _ more: String = ""
    ) -> String {
        #"{"id":"\#(id)","text":"\#(text)","version":"7","updatedAt":"\#(time)"\#(more.isEmpty ? "" : ",\(more)")}"#
    }

    /// A page of those rows.
    static func page(_ rows: [String]) -> String { "[\(rows.joined(separator: ","))]" }
    /// What a server that sorts by id answers to a read of those rows after none of them: all, from the last on where
    /// it is asked for the opposite order, and none after the last.
    static func sorted(_ ids: [String], _ request: HostileRequest) -> String {
        if request.target.contains("id%20gt") { return page([]) }
        return page((request.target.contains("id%20desc") ? ids.reversed() : ids).map { row($0) })
    }

    /// A page of those rows, which says where the next one is.
    static func page(_ rows: [String], next: String) -> String { #"{"items":\#(page(rows)),"nextLink":\#(next)}"# }

    /// A page with one good row `x`.
    static let one = page([row("x")])
    /// How a pull ends that has brought ``one``: `x` is here, and the cursor after it.
    static let brought = HostileOutcome.brings(["a", "b", "x"], cursor: .at(time))
}

extension HostileCase {
    /// Does `acts` with the first request, and answers each one more with an empty list.
    static func once(_ acts: [HostileAct]) -> Answer { { $0.number == 1 ? acts : [.json(200, "[]")] } }
    /// Answers the first request with that text, and each one more with an empty list.
    static func once(_ text: String) -> Answer { once([.json(200, text)]) }
    /// Does `acts` with the first request where all ends well, and with every one where it does not: what is tried
    /// again fails again.
    static func asLong(as outcome: HostileOutcome, _ acts: [HostileAct]) -> Answer {
        outcome.error == nil ? once(acts) : always(acts)
    }
    /// Does `acts` with every request.
    static func always(_ acts: [HostileAct]) -> Answer { { _ in acts } }
}
