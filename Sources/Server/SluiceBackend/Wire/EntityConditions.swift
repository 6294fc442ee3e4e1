internal import HTTPTypes
internal import SluiceCore

/// The conditions of a request on a record's version and time, in the order of RFC 9110, section 13.2.2.
struct EntityConditions: Sendable {
    /// What the conditions say about a record.
    enum Outcome: Sendable, Hashable {
        /// The request may go on.
        case met
        /// The client has the record already (304).
        case known
        /// The record is not the one the client means (412).
        case failed
    }

    private let ifMatch: [String]
    private let ifNoneMatch: [String]
    private let unmodifiedSince: Timestamp?
    private let modifiedSince: Timestamp?
    private let isLenient: Bool

    /// The conditions of a request. `isLenient`: `If-Match` may be a version without quotes.
    init(_ headers: HTTPFields, isLenient: Bool) {
        self.isLenient = isLenient
        ifMatch = EntityTags.all(in: headers[values: .ifMatch])
        ifNoneMatch = EntityTags.all(in: headers[values: .ifNoneMatch])
        unmodifiedSince = headers[.ifUnmodifiedSince].flatMap { HTTPDate.timestamp($0) }
        modifiedSince = headers[.ifModifiedSince].flatMap { HTTPDate.timestamp($0) }
    }

    /// Whether there is an `If-Match`.
    var expectsVersion: Bool { !ifMatch.isEmpty }

    /// Holds the conditions against a stored record. `reading`: what the client has already is no failure then.
    ///
    /// - Parameter isSame: whether the record was the same when it had that other version.
    func check(_ stored: JSON, reading: Bool = false, orIf isSame: (String) -> Bool = { _ in false }) -> Outcome {
        let version = stored[SystemColumn.version]?.string ?? ""
        // Fields of this kind know whole seconds only.
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

    /// Whether `If-Match` allows a change of a record that has this version. `*` does; a strong tag does if it is the
    /// version, and so does the version without quotes on a lenient wire; weak tags and what is no tag match nothing. Of
    /// several one is enough.
    private func allows(_ version: String, orIf isSame: (String) -> Bool) -> Bool {
        ifMatch.contains { tag in
            if tag == "*" { return true }
            guard let named = Self.version(tag) ?? (isLenient && !tag.isEmpty ? tag : nil) else { return false }
            return named == version || isSame(named)
        }
    }

    /// Whether `If-None-Match` says that the client has this version. Reading compares weakly.
    private func isKnown(_ version: String) -> Bool {
        ifNoneMatch.contains { $0 == "*" || Self.version(EntityTags.strong($0)) == version }
    }

    private static func version(_ field: String) -> String? {
        guard field.hasPrefix("\""), field.hasSuffix("\""), field.count > 1 else { return nil }
        return ETag(field).version
    }
}
