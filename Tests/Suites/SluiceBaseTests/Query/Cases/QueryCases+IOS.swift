import HTTPTypes
import SluiceCore
import SluiceTestSupport

extension QueryCase {
    /// Rows 2 to 39: the client for iOS, which writes NSPredicate as `$filter`.
    static let ios: [Int: QueryCase] = [
        2: .exact(column("Complete") == true),
        3: .exact(true),
        4: .read(TableQuery.Term(1) == 0 || column("Price") <= 5.99),
        5: .exact(column("Count") < -25),
        6: .read(column("Count") == 0 && !(column("Price") > 599.99)),
        7: .exact(column("Count") + 200 > 350),
        8: .read(column("Price") - 1.99 <= column("Cost")),
        9: .read(column("Weight") * -1.5 < 225.0),
        10: .exact(column("Price").ceiling == 3),
        11: .exact(column("name") == "bob"),
        12: .exact(column("name").lowercased == TableQuery.Term("bob").lowercased),
        13: .exact(column("name").uppercased == "BOB"),
        14: .exact(column("name").endsWith("b")),
        15: .exact(column("name").contains("b")),
        16: .read(column("Zipcode") == 98008 || column("Zipcode") == 98006 || column("Zipcode") == 98007),
        17: .read(column("Zipcode").isIn([TableQuery.Term(98007) + 1, TableQuery.Term(98007) - 1, 98007])),
        18: .read(column("Price") >= 22.25),
        19: .exact(column("Count") < -25),
        20: .exact(column("Count") <= 500),
        21: .read(column("Price") == 1.99),
        22: .read(column("Count") != 200),
        23: .exact(column("name").lowercased == "bob"),
        24: .read(column("Created") == date("2012-05-21T00:00:00Z")),
        25: .read(column("Created") == date("2012-05-21T00:00:29Z")),
        26: .read(column("Created") == date("2012-05-21T00:00:29.3Z")),
        27: .read(column("Zipcode") == 98008 || column("Zipcode") == 98006 || column("Zipcode") == 98007),
        28: .exact(column("Zipcode") >= 98006 && column("Zipcode") <= 98008),
        29: .query(TableQuery("t").taking(0).includingCount()),
        30: .query(TableQuery("t").skipping(542)),
        31: .query(TableQuery("t").includingCount()),
        32: .query(TableQuery("t").parameter("key1", "someValue").parameter("key2", "14")),
        33: .query(TableQuery("t").selecting("address", "birthdate")),
        34: .query(TableQuery("t").sorted(by: "name").sorted(by: "zipcode", descending: true).sorted(by: "birthdate")),
        35: .query(TableQuery("t").where(column("title") == "#?&$ encode me!")),
        36: .address(address("http://someApp.com?x=y", TableQuery("someTable"))),
        37: .address(lookup("http://someApp.com/some%20path", "some table", "an id")),
        38: .query(TableQuery("t").parameter("x", "1").parameter("x", "B")),
        39: .query(TableQuery("t").parameter("x", "#?&$' encode me!")),
    ]

    static func date(_ text: String) -> TableQuery.Term { TableQuery.Term(Timestamp(text)!) }

    private static func address(_ base: String, _ query: TableQuery) -> String {
        guard let endpoint = try? Endpoint(base),
            let request = try? Dialect.azureV2.list(table: query.table, query: query, endpoint: endpoint)
        else { return "" }
        return "\(endpoint.scheme)://\(endpoint.authority)\(request.head.path ?? "")"
    }

    private static func lookup(_ base: String, _ table: String, _ id: String) -> String {
        guard let endpoint = try? Endpoint(base) else { return "" }
        let request = Dialect.azureV2.lookup(table: table, id: RecordID(id), endpoint: endpoint)
        return "\(endpoint.scheme)://\(endpoint.authority)\(request.head.path ?? "")"
    }
}
