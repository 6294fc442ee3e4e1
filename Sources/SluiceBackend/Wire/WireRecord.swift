internal import HTTPTypes
internal import SluiceCore

/// Records as they look on the wire.
enum WireRecord {
    /// The record with its times in milliseconds, the rest cut off.
    static func json(_ record: JSON) -> JSON {
        var record = record
        for name in [SystemColumn.createdAt, SystemColumn.updatedAt] {
            guard let time = record[name]?.string.flatMap({ Timestamp($0) }) else { continue }
            record[name] = JSON(time.text(fractionDigits: 3))
        }
        return record
    }

    /// An answer that is one record, with its version as `ETag`.
    static func reply(_ status: HTTPResponse.Status, _ record: JSON) -> Reply {
        var reply = Reply(status, body: json(record))
        if let version = record[SystemColumn.version]?.string { reply.headers[.eTag] = ETag.quoted(version) }
        return reply
    }

    /// The object of a request's body.
    ///
    /// - Throws: ``Refusal`` (400) with the place where it is not JSON.
    static func object(in body: Body) throws -> JSON {
        if body.isEmpty { throw Refusal(.badRequest, "the request has no body; send the record as a JSON object") }
        let json: JSON
        do {
            json = try body.json
        } catch {
            throw Refusal(.badRequest, error.description)
        }
        guard json.kind == .object else { throw Refusal(.badRequest, "the body is no JSON object") }
        return json
    }

    /// Refuses a body that sets what the server alone writes.
    static func refuseReserved(in body: JSON, verb: String) throws {
        for name in [SystemColumn.createdAt, SystemColumn.updatedAt, SystemColumn.deleted] where body[name] != nil {
            throw Refusal(.badRequest, "Cannot \(verb) item with property '\(name)' as it is reserved")
        }
    }

    /// Refuses an id that no client of the family may use.
    static func check(id: String, table: String) throws {
        do {
            try RecordRules.validate(id: id, table: table)
        } catch {
            throw Refusal(.badRequest, error.message)
        }
    }
}
