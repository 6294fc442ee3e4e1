import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Table: the server's records as values of a type")
struct TableOfTypeTests {
    /// An answer of the wire's own, with all that the server keeps of a record.
    private func answer(_ dialect: Dialect, id: String = "a", name: String = "Ada") -> String {
        var record: JSON = ["id": JSON(id), "name": JSON(name), "age": 36, "unknown": [1]]
        record[dialect.columns.version] = "v2"
        record[dialect.columns.updatedAt] = "2024-01-02T03:04:05.678Z"
        record[dialect.columns.deleted] = false
        return String(describing: record)
    }

    private let updatedAt = Timestamp("2024-01-02T03:04:05.678Z")
    private var ada: Person { Person(id: "a", name: "Ada", age: nil, version: "v1", updatedAt: updatedAt) }

    @Test("a record goes out and comes back under the wire's own names", arguments: Dialect.all)
    func changes(dialect: Dialect) async throws {
        let transport = ScriptedTransport(otherwise: .json(200, answer(dialect)))
        let people = client(transport, dialect: dialect).table(Person.self)
        let expected = Person(id: "a", name: "Ada", age: 36, version: "v2", updatedAt: updatedAt)
        #expect(try await people.insert(ada) == expected)
        #expect(try await people.update(ada) == expected)
        #expect(try await people.replace(ada) == expected)
        #expect(try await people.lookup(id: "a") == expected)
        #expect(try await people.refresh(ada) == expected)
        try await people.delete(ada)
        #expect(try await people.undelete(ada) == expected)
        // What is nil is left to the server's default in an insert, and cleared by an update.
        #expect(transport.bodies[0] == #"{"id":"a","name":"Ada"}"#)
        #expect(transport.bodies[1] == #"{"id":"a","name":"Ada","age":null}"#)
        #expect(transport.bodies[2] == transport.bodies[1])
        let conditions = (0..<6).map { transport.header("If-Match", $0) }
        #expect(conditions == [nil, #""v1""#, #""v1""#, nil, nil, #""v1""#])
        #expect(transport.header("If-Match", transport.requests.count - 1) == #""v1""#)
        #expect(transport.header("If-None-Match", 4) == #""v1""#)
        #expect(transport.requests.allSatisfy { $0.context.features.contains(.typedTable) })
        #expect(transport.lines[0].hasPrefix("POST /app/tables/people"))
    }

    @Test("only what the type declares is asked for, and only where the wire wants to be asked")
    func asked() async throws {
        struct Plain: Codable, Sendable { var id: String }
        struct Named: Codable, Sendable {
            var id: String
            var etag: String?
            var madeAt: Timestamp?
            enum CodingKeys: String, CodingKey { case id, etag = "version", madeAt = "createdAt" }
        }
        struct OldStyle: Codable, Sendable {
            var id: String
            var version: String?
            enum CodingKeys: String, CodingKey { case id, version = "__version" }
        }
        let row = #"{"id":"a","name":"x","__version":"v","__createdAt":"2024-01-02T03:04:05Z"}"#
        let transport = ScriptedTransport(otherwise: .json(200, row))
        let old = client(transport, dialect: .azureV1)
        _ = try await old.table("t", of: Plain.self).lookup(id: "a")
        let named = try await old.table("t", of: Named.self).lookup(id: "a")
        #expect(named.etag == "v" && named.madeAt == Timestamp("2024-01-02T03:04:05Z"))
        #expect(try await old.table("t", of: OldStyle.self).lookup(id: "a").version == "v")
        _ = try await old.table("people", of: Person.self).lookup(id: "a")
        _ = try await old.table("t").lookup(id: "a")
        #expect(
            transport.lines.map { $0.split(separator: "?").dropFirst().joined() } == [
                "", "__systemProperties=__createdAt,__version", "__systemProperties=__version",
                "__systemProperties=__updatedAt,__version", "__systemProperties=*",
            ])
        _ = try await client(transport).table("t", of: Plain.self).lookup(id: "a")
        #expect(transport.lines.last == "GET /app/tables/t/a")
    }

    @Test("an untyped table's properties can be set, to none as well")
    func settable() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, #"{"id":"a"}"#))
        var table = client(transport, dialect: .azureV1).table("t")
        for properties: Set<SystemProperty>? in [[.version, .deleted], .all, [], nil] {
            table.systemProperties = properties
            _ = try await table.lookup(id: "a")
        }
        #expect(
            transport.lines.map { $0.split(separator: "?").dropFirst().joined() } == [
                "__systemProperties=__version,__deleted", "__systemProperties=*", "", "__systemProperties=*",
            ])
    }

    @Test("a type that codes itself in another way is asked for all, and nothing is made of nothing")
    func ownCoding() async throws {
        struct Wrapper: Codable, Sendable {
            var json: JSON
            init(from decoder: any Decoder) throws { json = try decoder.singleValueContainer().decode(JSON.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(json)
            }
        }
        let transport = ScriptedTransport(otherwise: .json(200, #"{"id":"a","__version":"v"}"#))
        let table = client(transport, dialect: .azureV1).table("t", of: Wrapper.self)
        #expect(table.systemProperties == .all)
        #expect(try await table.lookup(id: "a").json == ["id": "a", "version": "v"])
        #expect(client(transport).table("t", of: [String: JSON].self).systemProperties == .all)
    }

    @Test("a column of the table's own with a system property's name can be had where the wire allows it")
    func ownColumn() async throws {
        struct Release: Codable, Sendable { var id: String, version: String }
        let row = #"{"id":"a","version":"6.3","__version":"v"}"#
        let transport = ScriptedTransport([.json(200, row), .json(200, row), .json(412, row)])
        var releases = client(transport, dialect: .azureV1).table("releases", of: Release.self)
        releases.systemProperties.remove(.version)
        let release = try await releases.lookup(id: "a")
        #expect(release.version == "6.3")
        try await releases.update(release)
        #expect(transport.bodies[1] == #"{"id":"a","version":"6.3"}"#)
        let error = await #expect(throws: SluiceError.self) { try await releases.delete(release) }
        #expect(try error?.server(as: Release.self)?.version == "6.3")
    }

    @Test("a new record of a table with integer ids has the id 0 or none")
    func integerIDs() async throws {
        struct Old: Codable, Sendable, Equatable { var id = 0, text: String }
        let transport = ScriptedTransport(otherwise: .json(201, #"{"id":7,"text":"x"}"#))
        let table = client(transport, dialect: .azureV1).table("old", of: Old.self)
        let made = try await table.insert(Old(text: "x"))
        #expect(made == Old(id: 7, text: "x") && transport.bodies == [#"{"text":"x"}"#])
        #expect(try await table.refresh(Old(text: "y")) == Old(text: "y"))
        await #expect(throws: SluiceError.self) { try await table.insert(made) }
        #expect(transport.requests.count == 1)
    }

    @Test("a refresh that finds nothing new gives back the very record")
    func unchanged() async throws {
        let people = client(ScriptedTransport(otherwise: .json(304, ""))).table(Person.self)
        #expect(try await people.refresh(ada) == ada)
    }

    @Test("pages and walks give values")
    func lists() async throws {
        let transport = ScriptedTransport([
            .json(200, "{\"items\":[\(answer(.datasync))],\"count\":2,\"nextLink\":\"$skip=1\"}"),
            .json(200, "{\"items\":[\(answer(.datasync, id: "b", name: "Bob"))]}"),
        ])
        let people = client(transport, dialect: .datasync).table(Person.self)
        var names: [String] = []
        for try await person in people.records(TableQuery("people").sorted(by: "name")) { names.append(person.name) }
        #expect(names == ["Ada", "Bob"])
        #expect(transport.lines == ["GET /app/tables/people?$orderby=name", "GET /app/tables/people?$skip=1"])
    }

    @Test("a record that does not fit is an error that says which and keeps what the server has")
    func misfit() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, #"{"id":"a","name":7}"#))
        let people = client(transport).table(Person.self)
        let error = await #expect(throws: SluiceError.self) { try await people.update(ada) }
        #expect(error?.code == .invalidRecord && error?.recordID == "a" && error?.table == "people")
        #expect(error?.serverRecord == ["id": "a", "name": 7] && error?.cause is DecodingError)
        struct Endless: Codable { var id = "a", x = Double.infinity }
        let refused = await #expect(throws: SluiceError.self) {
            try await client(transport).table("t", of: Endless.self).insert(Endless())
        }
        #expect(refused?.code == .invalidRecord && refused?.cause is EncodingError && transport.requests.count == 1)
    }

    @Test("integers are exact to their full width, both ways")
    func bigIntegers() async throws {
        struct Big: Codable, Sendable, Equatable { var id: String, n: Int64, m: UInt64 }
        let transport = ScriptedTransport { .json(200, String(decoding: $0.body.bytes, as: UTF8.self)) }
        let big = Big(id: "a", n: .min + 1, m: .max)
        #expect(try await client(transport).table("t", of: Big.self).update(big) == big)
        #expect(transport.bodies == [#"{"id":"a","n":-9223372036854775807,"m":18446744073709551615}"#])
    }
}
