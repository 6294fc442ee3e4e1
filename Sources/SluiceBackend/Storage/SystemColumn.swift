internal import SluiceCore

/// The columns that the server alone writes.
enum SystemColumn {
    static let createdAt = "createdAt"
    static let updatedAt = "updatedAt"
    static let version = "version"
    static let deleted = "deleted"

    static let all = [createdAt, updatedAt, version, deleted]
    /// Those that are times.
    static let times: Set = [createdAt, updatedAt]

    /// The columns as they are stored: times in full precision.
    static let declared: [TableSchema.Column] = [
        .init(createdAt, .date), .init(updatedAt, .date), .init(version, .string), .init(deleted, .boolean),
    ]
}
