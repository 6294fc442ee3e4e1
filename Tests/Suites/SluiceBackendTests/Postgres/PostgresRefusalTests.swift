import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend
@testable import SluicePostgres

/// What is said where the database is none that the backend can serve from.
@Suite("Databases that cannot be served from") struct PostgresRefusalTests {
    @Test(
        "a server that is too old, or of another encoding, is refused by its name",
        arguments: [("12.22", "UTF8", "older than 13"), ("15.3", "LATIN1", "encoding UTF8")])
    func servers(version: String, encoding: String, says: String) async throws {
        let server = try Greeter([("server_version", version), ("server_encoding", encoding)])
        defer { server.close() }
        let port = server.port
        let database = try BackendConfiguration.Database(
            "postgres://ann:s3cret@127.0.0.1:\(port)/app?sslmode=disable&gssencmode=disable")
        do {
            _ = try await Backend(BackendConfiguration(database: database, tables: [.init("t")]))
            Issue.record("it was opened")
        } catch let error as SluiceError {
            #expect(error.code == .storeSchema)
            #expect(error.message.contains(says) && error.message.contains("127.0.0.1:\(port)/app"))
            #expect(!"\(error)".contains("s3cret"))
        }
    }

    @Test(
        "a database or a user that is not there is told apart from a server that is away",
        .enabled(if: !TestDatabase.isSQLite && !TestDatabase.isPooled, "needs .ci/postgres, without a pooler"),
        arguments: [
            ("/postgres", "/nowhere", "there is no database"), ("sluice@", "nobody@", "does not let this user in"),
        ])
    func names(part: String, wrong: String, says: String) async throws {
        let url = try #require(TestDatabase.server).replacing(part, with: wrong)
        do {
            _ = try await Backend(
                BackendConfiguration(database: BackendConfiguration.Database(url), tables: [.init("t")]))
            Issue.record("it was opened")
        } catch let error as SluiceError {
            #expect(error.code == .storeInputOutput)
            #expect(error.message.contains(says), "\(error)")
        }
    }

    @Test(
        "what somebody else did to the tables is said, and put right by putting it right",
        .enabled(if: !TestDatabase.isSQLite, "needs .ci/postgres"),
        arguments: [
            ("ALTER TABLE t RENAME COLUMN n TO m", "ALTER TABLE t RENAME COLUMN m TO n"),
            ("ALTER TABLE t RENAME TO s", "ALTER TABLE s RENAME TO t"),
        ])
    func changedTables(change: String, back: String) async throws {
        let fixture = try await BackendFixture(.init("t", columns: [.init("n", .integer)]))
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a","n":1}"#).status == 201)
        _ = try await fixture.backend.served.database.write { try $0.run(change) }
        for answer in [
            await fixture.send(.get, "/tables/t"), await fixture.send(.post, "/tables/t", #"{"id":"b","n":2}"#),
        ] {
            #expect(answer.status == 500)
            #expect(answer.error.contains("storeSchema"), "\(answer.error)")
        }
        do {
            _ = try await fixture.backend.served.database.read {
                try fixture.backend.served.table("t")?.record("a", $0)
            }
            Issue.record("it was read")
        } catch let error as SluiceError {
            #expect(error.code == .storeSchema && error.message.contains("did somebody change them"))
        }
        _ = try await fixture.backend.served.database.write { try $0.run(back) }
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"b","n":2}"#).status == 201)
        #expect(Set(await fixture.send(.get, "/tables/t").ids) == ["a", "b"])
        try await fixture.backend.close()
    }

    /// A server that greets each connection with those parameters and then is silent.
    private final class Greeter: Sendable {
        let port: UInt16
        private let listener: Int32

        init(_ parameters: [(String, String)]) throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            self.listener = listener
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(listener, pointer, length) == 0 && listen(listener, 8) == 0
                        && getsockname(listener, pointer, &length) == 0
                }
            }
            port = UInt16(bigEndian: address.sin_port)
            try #require(isListening)
            func message(_ kind: String, _ body: [UInt8]) -> [UInt8] {
                Array(kind.utf8) + [0, 0, 0, UInt8(body.count + 4)] + body
            }
            var greeting = message("R", [0, 0, 0, 0])
            for (name, value) in parameters + [("client_encoding", "UTF8")] {
                greeting += message("S", Array(name.utf8) + [0] + Array(value.utf8) + [0])
            }
            greeting += message("Z", Array("I".utf8))
            let thread = Thread { [greeting] in
                var connections: [Int32] = []
                var request = [UInt8](repeating: 0, count: 4096)
                while case let connection = accept(listener, nil, nil), connection >= 0 {
                    connections.append(connection)
                    _ = read(connection, &request, request.count)
                    _ = write(connection, greeting, greeting.count)
                }
                for descriptor in connections + [listener] { Glibc.close(descriptor) }
            }
            thread.start()
        }

        /// Takes no more connections, and ends those that there are.
        func close() { shutdown(listener, Int32(SHUT_RDWR)) }
    }
}
