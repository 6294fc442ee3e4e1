internal import HTTPTypes
internal import SluiceCore

/// The remembered effect of a request: its answer and its stored record.
struct RememberedEffect: Sendable {
    /// The answer, possibly before the hooks.
    var reply: Reply
    /// The stored record, if the hooks have not run on it yet; nil if they have, or if there are none.
    var stored: JSON?

    /// The number of expired effects that each new one removes, so that the work is spread.
    private static let pruned = 8

    static func find(
        user: String, request: String, _ connection: any StorageConnection
    ) throws -> (fingerprint: Int64, effect: RememberedEffect)? {
        let rows = try connection.run(
            "SELECT fingerprint, answer, stored FROM sluice_requests WHERE \"user\" = $1 AND request = $2",
            [.text(user), .text(request)])
        guard let row = rows.first, case .integer(let fingerprint) = row[0], case .text(let answer) = row[1] else {
            return nil
        }
        do {
            let json = try JSON(parsing: answer)
            var reply = Reply(.init(code: json["status"]?.int.map { Int($0) } ?? 200), body: json["body"])
            for (name, value) in json["headers"]?.members ?? [] {
                if let field = HTTPField.Name(name.text), let text = value.string { reply.headers[field] = text }
            }
            guard case .text(let record) = row[2] else { return (fingerprint, Self(reply: reply, stored: nil)) }
            return (fingerprint, Self(reply: reply, stored: try JSON(parsing: record)))
        } catch {
            throw SluiceError(.storeCorrupt, "a remembered answer cannot be read", cause: error)
        }
    }

    func insert(
        user: String, request: String, fingerprint: Int64, expires: Timestamp, now: Timestamp,
        _ connection: any StorageConnection
    ) throws {
        try connection.run(
            "DELETE FROM sluice_requests WHERE (\"user\", request) IN "
                + "(SELECT \"user\", request FROM sluice_requests WHERE expires < $1 ORDER BY expires LIMIT $2)",
            [.integer(now.ticks), .integer(Int64(Self.pruned))])
        try connection.run(
            "INSERT INTO sluice_requests (\"user\", request, fingerprint, expires, answer, stored) "
                + "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (\"user\", request) DO UPDATE SET fingerprint = "
                + "excluded.fingerprint, expires = excluded.expires, answer = excluded.answer, stored = excluded.stored",
            [.text(user), .text(request), .integer(fingerprint), .integer(expires.ticks)] + values)
    }

    func update(user: String, request: String, _ connection: any StorageConnection) throws {
        try connection.run(
            "UPDATE sluice_requests SET answer = $1, stored = $2 WHERE \"user\" = $3 AND request = $4",
            values + [.text(user), .text(request)])
    }

    private var values: [SQLValue] {
        let headers = reply.headers.map { (name: $0.name.canonicalName, value: JSON($0.value)) }
        var answer: JSON = ["status": JSON(reply.status.code), "headers": JSON(members: headers)]
        answer["body"] = reply.body
        return [.text(answer.description), stored.map { .text($0.description) } ?? .null]
    }
}
