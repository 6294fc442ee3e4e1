import SluiceCore
import SluiceTestSupport

extension QueryCase {
    /// Rows 175 to 203: the client for Android, which leaves the parentheses out.
    static let android: [Int: QueryCase] = [
        175: .query(TableQuery("t")),
        176: .query(TableQuery("t").parameter("firstname", "john").parameter("lastname", "null")),
        177: .query(TableQuery("t").sorted(by: "Name").sorted(by: "Age", descending: true)),
        178: .read(column("age") > 3),
        179: .read(column("age") >= 3),
        180: .read(column("age") >= 3),
        181: .read(column("age") <= 3),
        182: .read(column("age") == 3),
        183: .read(column("age") == 18 && column("name") == "John"),
        184: .read(column("age") == 18 || (column("name") == "John" && column("lastname") == "Doe")),
        185: .read(!(column("age") == 15)),
        186: .read(!(column("age") == 15)),
        187: .read(column("age") + 2 == 18),
        188: .read(column("age") - 2 == 16),
        189: .read(column("age") * 2 == 16),
        190: .read(column("age") * 2 == 16),
        191: .read(column("age") / 2 == 8),
        192: .read(column("price") % 2 == 1),
        193: .read(column("date").month == 8),
        194: .read(column("date").day == 3),
        195: .read(column("date").hour == 10),
        196: .read(column("price").ceiling > 10),
        197: .exact(column("LastName").contains(column("FirstName"))),
        198: .read(column("FirstName").concatenated(column("LastName")) == "JohnDoe"),
        199: .read(column("Name").index(of: "do") != -1),
        200: .read(column("ProductCode").substring(3) == "FOO"),
        201: .read(column("Description").replacing(" ", with: "-") == "Code-1"),
        202: .read(column("Description").uppercased == "code-1"),
        203: .read(column("Description").trimmed == "code-1"),
    ]
}
