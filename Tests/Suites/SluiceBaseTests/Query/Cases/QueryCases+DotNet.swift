import SluiceCore
import SluiceTestSupport

extension QueryCase {
    /// Rows 40 to 88: the .NET client of Mobile Apps, which writes LINQ as v3.
    static let dotNet: [Int: QueryCase] = [
        40: .read(column("Weight") <= 10.0 || column("InStock") == true),
        41: .read(column("Weight") <= 10.0 || column("InStock") == true),
        42: .exact(!column("InStock")),
        43: .exact(!column("InStock")),
        44: .read(column("Weight") <= 10.0 || column("InStock") == true),
        45: .exact(column("DisplayAisle") == 2),
        46: .exact(column("OptionFlags") == 7),
        47: .exact((column("Weight") * 2.0) / 3.0 + 1.0 == 10.0),
        48: .exact(column("Name").length == 7),
        49: .exact(column("Created").month == 7),
        50: .exact(column("Created").second == 7),
        51: .exact(column("Weight").floor == 10.0),
        52: .read(column("Price").ceiling == 10.0),
        53: .exact(column("Weight").rounded == 10.0),
        54: .read(column("Price").rounded == 10.0),
        55: .exact(column("Name").lowercased == "a"),
        56: .exact(column("Name").lowercased == "a"),
        57: .exact(column("Name").uppercased == "A"),
        58: .exact(column("Name").uppercased == "A"),
        59: .exact(column("Name").trimmed == "A"),
        60: .exact(column("Name").endsWith("x")),
        61: .exact(column("Name").index(of: "x") == 2),
        62: .exact(column("Name").index(of: "x") == 2),
        63: .exact(column("Name").contains("x")),
        64: .exact(column("Name").replacing("a", with: "A") == "A"),
        65: .exact(column("Name").replacing("a", with: "A") == "A"),
        66: .exact(column("Name").substring(2, 3) == "A"),
        67: .exact(column("Name").concatenated("x").lowercased == "ax"),
        68: .exact(column("Name").isIn(["name1", "name2"])),
        69: .exact(column("Name").isIn(["name1", "name2"])),
        70: .left("an empty list holds nothing, so the filter is false; the old client sent none and got everything"),
        71: .exact(column("Name").isIn(["name1", "name2"])),
        72: .exact(column("Name").isIn(["name1", "name2", "name3"])),
        73: .exact(column("Name").isIn(["name1", "name2"])),
        74: .exact(column("InStock").isIn([false, true])),
        75: .exact(column("Enum4") == "Enum4Value2"),
        76: .exact(column("Tags") == "Test"),
        77: .exact(column("Created") == "January 23"),
        78: .exact(!column("InStock") || column("InStock")),
        79: .read(column("Updated") == date("0001-01-01T08:00:00Z")),
        80: .exact(column("InStock")),
        81: .read(column("UnsignedId") == 12),
        82: .read(column("Weight") > 1.3),
        83: .query(
            TableQuery("t").where(column("Price") <= 10.0 && column("Weight") > 10.0).where(!column("InStock"))
                .sorted(by: "Price", descending: true).sorted(by: "Name").skipping(20).taking(10)
                .selecting("Name", "Price").selecting("Weight", "WeightInKG")),
        84: .query(TableQuery("t").skipping(2).skipping(5)),
        85: .query(TableQuery("t").taking(2).taking(5)),
        86: .query(TableQuery("t").taking(11).skipping(13)),
        87: .left("the builder takes values and columns, so a query inside a condition cannot be written at all"),
        88: .refused("Weight in (4.6,'string')", [.init("Weight", .real)]),
    ]

    /// Rows 204 to 207: the client for JavaScript.
    static let javaScript: [Int: QueryCase] = [
        204: .query(TableQuery("books").where(column("price") == 100).sorted(by: "title").selecting("price")),
        205: .query(TableQuery("books").where(column("title") == "How to dial this # & such 'stuff'?")),
        206: .query(
            TableQuery("books").where(column("price") == 100).sorted(by: "title").selecting("price")
                .parameter("state", "CA").parameter("tags", "#pizza #beer")),
        207: .query(TableQuery("books").where(column("id") == "X")),
    ]

    /// Rows 208 to 222: the .NET client's store on SQLite, by what is found instead of by the SQL.
    static let sqlite: [Int: QueryCase] = [
        208: .finds(["2", "3"]),
        209: .finds(["2", "3", "1"]),
        210: .finds(["2", "4", "5", "6"]),
        211: .finds(["9"]),
        212: .left("a store deletes all that match; who wants a page deleted reads it first"),
        213: .finds(["10", "2"]),
        214: .refused("length(name) eq 'abc'"),
        215: .finds(["10", "5"]),
        216: .refused("substringof('khan', name) eq 'abc'"),
        217: .finds(["2"]),
        218: .refused("indexof(message, 'hello') eq 'abc'"),
        219: .finds(["10"]),
        220: .finds(["2"]),
        221: .finds(["1", "2", "5", "6"]),
        222: .finds(["5"]),
    ]
}
