internal import SluiceBase
internal import SluiceWire

/// One row looked up: by its id, by its id in other letters, and a row that is not there.
struct TagsSeen: ProbeObservation {
    /// The row as a list has it, before and after the lookup.
    var row: RowPage.Row
    var after: RowPage.Row?
    var found: ProbeRecord
    /// The version in the record of the answer.
    var version: String?
    /// The row under its id in other letters; nil for an id that has none.
    var otherCase: ProbeRecord?
    var missing: ProbeRecord?
    /// Whether versions are whole entity tags, which may be weak.
    var versionsAreTags = false

    var findings: [ProbeFinding] { lookups + (found.tag.map(tags) ?? []) }

    private var lookups: [ProbeFinding] {
        var findings: [ProbeFinding] = []
        if found.error?.code == .notFound, after?.version == row.version {
            findings.append(ProbeFinding(.lookupMissing, "\(row.id.text) is in a list, and not found by its id"))
        } else if let error = found.error {
            findings.append(ProbeFinding(.lookupMissing, "\(row.id.text) cannot be looked up: \(error.message)"))
        } else if let version, let listed = row.version, listed == after?.version, version != listed {
            let isSuffixed = Self.bare(version).hasPrefix(Self.bare(listed))
            findings.append(
                ProbeFinding(
                    isSuffixed ? .tagsSuffixed : .lookupDiffers,
                    "\(row.id.text) has the version \(listed) in lists, and \(version) by its id"))
        }
        if otherCase?.status == 200 {
            findings.append(ProbeFinding(.idsFolded, "\(row.id.text) is found under its id in other letters"))
        }
        if let missing, missing.isDone {
            findings.append(ProbeFinding(.missingFound, "an id that is not there is answered \(missing.status ?? 0)"))
        } else if let missing, missing.status.map({ $0 >= 500 }) ?? false {
            findings.append(ProbeFinding(.missingFails, "an id that is not there is answered \(missing.status ?? 0)"))
        }
        return findings
    }

    private func tags(_ tag: String) -> [ProbeFinding] {
        guard !versionsAreTags else { return [] }
        if tag.contains("\", ") || tag.contains("\",\"") { return [ProbeFinding(.tagsList, "ETag is a list: \(tag)")] }
        if case .weak = ETag(tag) { return [ProbeFinding(.tagsWeak, "ETag is weak: \(tag)")] }
        guard let version, let said = ETag(tag).version, said != version else { return [] }
        return [
            ProbeFinding(
                said.hasPrefix(version) ? .tagsSuffixed : .tagsDiffer,
                "ETag is \(tag), the record's version is \(version)")
        ]
    }

    private static func bare(_ tag: String) -> String { tag.filter { $0 != "\"" } }
}

extension ProbeSession {
    /// Looks a row up.
    func tags(_ rows: RowsSeen, _ report: inout ProbeReport) async throws {
        let isGone = Set(rows.page.rows.filter { $0.isDeleted || $0.isUnfit }.map(\.id))
        guard let row = rows.plain.rows.first(where: { !$0.isUnfit && !isGone.contains($0.id) }) else { return }
        let found = try await lookup(row.id)
        let id = dialect.columns.id
        let after = try await list { $0.filter = Self.equals(id, row.id) }
        var seen = TagsSeen(
            row: row, after: after.probed?.rows.first, found: found,
            version: found.json?[dialect.columns.version]?.string, versionsAreTags: dialect.versionsAreTags)
        if takesAnyID {
            let text = row.id.text
            let other = text.lowercased() == text ? text.uppercased() : text.lowercased()
            // A GUID is the same in both; a generated id has no twin in other letters.
            if other != text, !text.isGUID { seen.otherCase = try await lookup(.string(other)) }
            seen.missing = try await lookup(Self.noneID)
        }
        report.add(seen)
    }
}
