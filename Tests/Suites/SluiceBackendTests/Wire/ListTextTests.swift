import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// Looks at every request and changes nothing; with it a list goes by way of documents.
private struct Onlooker: TableHooks {}

@Suite("A list is written straight from the table, and is the same text as by way of documents")
struct ListTextTests {
    private static let typed = BackendConfiguration.Table(
        "t",
        columns: [
            .init("text", .string), .init("n", .integer), .init("price", .real), .init("done", .boolean),
            .init("due", .date), .init("tags", .json),
        ])

    private static let records = [
        #"{"id":"a","text":"milk","n":1,"price":1.5,"done":true,"due":"2026-01-02T03:04:05.000Z","tags":["x",{"y":[]}]}"#,
        #"{"id":"b","text":"quote \" slash \\ line \n é \u0001","n":-9223372036854775808,"price":2}"#,
        #"{"id":"c","text":null,"n":null,"price":1e300,"done":false,"due":null,"tags":null}"#,
        #"{"id":"d","text":5,"n":1.5,"price":1.10,"done":"yes","due":"soon","tags":7,"more":{"{,\"":1}}"#,
        #"{"id":"e","more":[1,"]",{"text":2}],"a\"b":18446744073709551616,"é":0}"#,
        #"{"id":"f","a\"b":{"more":1},"last":"}"}"#,
        #"{"id":"g"}"#,
        #"{"id":"h","text":{"price":{"n":"}"}},"n":"3","price":2.0,"done":0,"due":[],"last":1}"#,
        #"{"id":"i","first":"\\\"","price":0.0,"tags":"x"}"#,
        #"{"id":"j","price":-0.0,"due":"2026-01-02T03:04:05+02:00"}"#,
    ]

    @Test(
        "with columns and without, for each generation",
        arguments: ["", "2.0.0", "3.0.0"], [true, false])
    func same(_ version: String, _ isTyped: Bool) async throws {
        let table = isTyped ? Self.typed : BackendConfiguration.Table("t")
        let straight = try await BackendFixture(tables: [table])
        let documents = try await BackendFixture(tables: [table], hooks: ["t": Onlooker()])
        let wire = version.isEmpty ? nil : version
        for fixture in [straight, documents] {
            for record in Self.records {
                #expect(await fixture.send(.post, "/tables/t", record, version: "2.0.0").status == 201)
            }
            _ = await fixture.send(.delete, "/tables/t/c", version: "2.0.0")
        }
        for query in ["", "?$top=2", "?$inlinecount=allpages&$skip=1", "?$orderby=text desc", "?$filter=n eq 1"] {
            let (one, other) = (
                await straight.send(.get, "/tables/t\(query)", version: wire),
                await documents.send(.get, "/tables/t\(query)", version: wire)
            )
            #expect(one.status == 200 && one.response.body.bytes == other.response.body.bytes, "\(query)")
            #expect(one.header("Link") == other.header("Link"))
        }
    }
}
