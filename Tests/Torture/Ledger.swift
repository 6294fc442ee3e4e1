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
    /// The edit that was begun and not acknowledged: it is there or it is not.
    private var open: (number: Int, edit: Edit)?
    /// The points at which the worker was, the last one last.
    private(set) var points: [String] = []
    private(set) var acknowledged = 0
    /// The largest value announced.
    private(set) var last = 0

    mutating func take(_ line: Substring) {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "B" where words.count == 6:
            let edit = Edit(kind: words[2], id: words[3], property: words[4], value: Int(words[5]) ?? 0)
            last = Int(words[1]) ?? last
            open = (last, edit)
        case "A" where open?.number == words.dropFirst().first.flatMap { Int($0) }:
            if let edit = open?.edit { Self.apply(edit, to: &records) }
            acknowledged += 1
            open = nil
        case "F": open = nil
        case "P": points.append(words.dropFirst().joined())
        default: break
        }
    }

    /// Compares the worker's records, as they were found, and goes on with what was found. The last edit may be there
    /// unacknowledged; everything else must be as acknowledged.
    mutating func compare(_ found: [String: [String: Int]]) -> [String] {
        var withOpen = records
        if let edit = open?.edit { Self.apply(edit, to: &withOpen) }
        open = nil
        points = []
        if found == records { return [] }
        if found == withOpen {
            records = withOpen
            return []
        }
        let wrong = Set(found.keys).union(records.keys).sorted().filter { found[$0] != records[$0] }
        defer { records = found }
        return wrong.map { id in
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
