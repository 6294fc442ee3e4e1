internal import HTTPTypes
internal import SluiceCore

/// The conditions of a request on a record's version and time, in the order of RFC 9110, section 13.2.2.
struct EntityConditions: Sendable {
    /// The result of checking the conditions on a record.
    enum Outcome: Sendable, Hashable {
        /// The request may proceed.
        case met
        /// The client already has the record (304).
        case known
        /// The record has another version than expected (412).
        case failed
    }

    private let ifMatch: [String]
    private let ifNoneMatch: [String]
    private let unmodifiedSince: Timestamp?
    private let modifiedSince: Timestamp?
    private let isLenient: Bool

    /// Reads the conditions of a request. With `isLenient`, `If-Match` may be a version without quotes.
    init(_ headers: HTTPFields, isLenient: Bool) {
        self.isLenient = isLenient
        ifMatch = EntityTags.all(in: headers[values: .ifMatch])
        ifNoneMatch = EntityTags.all(in: headers[values: .ifNoneMatch])
        unmodifiedSince = headers[.ifUnmodifiedSince].flatMap { HTTPDate.timestamp($0) }
        modifiedSince = headers[.ifModifiedSince].flatMap { HTTPDate.timestamp($0) }
    }

    /// Whether there is an `If-Match`.
    var expectsVersion: Bool { !ifMatch.isEmpty }

    /// Whether the `If-Match` names a version; `*` is any.
    var namesVersion: Bool { expectsVersion && !ifMatch.contains("*") }

    /// Checks the conditions on a stored record. For a read (`reading`), a known version is no failure.
    ///
    /// - Parameter isSame: tells whether another version stands for the same content.
    func check(_ stored: JSON, reading: Bool = false, orIf isSame: (String) -> Bool = { _ in false }) -> Outcome {
        let version = stored[SystemColumn.version]?.string ?? ""
        // Times in these fields have whole seconds only.
        let time = stored[SystemColumn.updatedAt]?.string.flatMap { Timestamp($0) }
            .flatMap { Timestamp($0.text(fractionDigits: 0)) }
        if expectsVersion {
            guard allows(version, orIf: isSame) else { return .failed }
        } else if let unmodifiedSince, let time, time > unmodifiedSince {
            return .failed
        }
        if !ifNoneMatch.isEmpty {
            return isKnown(version) ? (reading ? .known : .failed) : .met
        }
        if reading, let modifiedSince, let time, time <= modifiedSince { return .known }
        return .met
    }

    /// Whether `If-Match` allows a change of a record of this version. `*` and a strong tag with the version do, and on
    /// a lenient wire also the version without quotes. Weak and invalid tags match nothing. One match of several is
    /// enough.
    private func allows(_ version: String, orIf isSame: (String) -> Bool) -> Bool {
        ifMatch.contains { tag in
            if tag == "*" { return true }
            guard let named = Self.version(tag) ?? (isLenient && !tag.isEmpty ? tag : nil) else { return false }
            return named == version || isSame(named)
        }
    }

    /// Whether `If-None-Match` contains this version. The comparison is weak.
    private func isKnown(_ version: String) -> Bool {
        ifNoneMatch.contains { $0 == "*" || Self.version(EntityTags.strong($0)) == version }
    }

    private static func version(_ field: String) -> String? {
        guard field.hasPrefix("\""), field.hasSuffix("\""), field.count > 1 else { return nil }
        return ETag(field).version
    }
}
