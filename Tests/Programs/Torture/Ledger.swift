import Foundation
import Sluice

/// What a worker announced, and what its records must be by that.
struct Ledger {
    private struct Edit {
        var kind: String
        var id: String
        var property: String
        var value: Int
    }

    /// The records as they are after all acknowledged edits.
    private(set) var records: [String: [String: Int]] = [:]
    /// The edits that were begun as one and not acknowledged: all of them are there or none.
    private var open: (number: Int, edits: [Edit])?
    private(set) var acknowledged = 0
    /// The largest value announced.
    private(set) var last = 0
    /// The errors that the worker met and that neither a kill, a wait nor a taken lease explains.
    private var unexpected: Set<String> = []
    /// What a server that is gone, a store that another has and a lease that was taken away lead to.
    private static let expected: Set<String> = ["network", "operationsPending", "storeBusy", "storeLeaseLost"]

    mutating func take(_ line: Substring) {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "B" where words.count >= 5 && words.count % 3 == 2:
            last = Int(words[1]) ?? last
            open = (
                last,
                stride(from: 2, to: words.count, by: 3).map {
                    Edit(kind: words[$0], id: words[$0 + 1], property: words[$0 + 2], value: last)
                }
            )
        case "A" where open?.number == words.dropFirst().first.flatMap { Int($0) }:
            for edit in open?.edits ?? [] { Self.apply(edit, to: &records) }
            acknowledged += 1
            open = nil
        case "E": meet(words.dropFirst())
        case "F":
            open = nil
            meet(words.dropFirst(2))
        default: break
        }
    }

    /// - Parameter error: its code and the words of its message.
    private mutating func meet(_ error: ArraySlice<String>) {
        guard let code = error.first, !Self.expected.contains(code) else { return }
        unexpected.insert(error.joined(separator: " "))
    }

    /// Compares the worker's records, as they were found, and goes on with what was found. The last edits may be there
    /// unacknowledged, all or none; everything else must be as acknowledged.
    mutating func compare(_ found: [String: [String: Int]]) -> [String] {
        var withOpen = records
        for edit in open?.edits ?? [] { Self.apply(edit, to: &withOpen) }
        open = nil
        let errors = unexpected.sorted().map { "the worker met \($0)" }
        unexpected = []
        if found == records { return errors }
        if found == withOpen {
            records = withOpen
            return errors
        }
        let wrong = Set(found.keys).union(records.keys).sorted().filter { found[$0] != records[$0] }
        defer { records = found }
        return errors
            + wrong.map { id in
                "\(id) is \(found[id]?.description ?? "gone") and was acknowledged as "
                    + (records[id]?.description ?? "deleted")
            }
    }

    private static func apply(_ edit: Edit, to records: inout [String: [String: Int]]) {
        switch edit.kind {
        case "insert": records[edit.id] = [edit.property: edit.value]
        case "delete": records[edit.id] = nil
        default: records[edit.id]?[edit.property] = edit.value
        }
    }
}
