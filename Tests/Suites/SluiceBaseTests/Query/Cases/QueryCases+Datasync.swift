import SluiceCore
import SluiceTestSupport

extension QueryCase {
    /// Rows 89 to 170: the client of the CommunityToolkit's Datasync, which writes LINQ as v4.
    static let datasync: [Int: QueryCase] = [
        89: .query(TableQuery("t").includingDeleted()),
        90: .query(TableQuery("t").includingCount()),
        91: .query(TableQuery("t").includingCount()),
        92: .query(TableQuery("t").sorted(by: "stringValue")),
        93: .query(TableQuery("t").sorted(by: "stringValue").sorted(by: "byteValue")),
        94: .left("keys to sort by are columns, so a computed one cannot be written at all"),
        95: .query(TableQuery("t").skipping(40).skipping(2)),
        96: .query(TableQuery("t").taking(0)),
        97: .query(TableQuery("t").taking(40).taking(2)),
        98: .query(TableQuery("t").taking(2).taking(40)),
        99: filtered(column("booleanValue") == false),
        100: filtered(column("booleanValue") == true),
        101: filtered(column("booleanValue") != false),
        102: filtered(column("booleanValue") != true),
        103: filtered(column("byteValue") == 42),
        104: filtered(column("byteValue") != 42),
        105: filtered(column("byteValue") > 42),
        106: filtered(column("byteValue") >= 42),
        107: filtered(column("byteValue") < 42),
        108: filtered(column("dateOnlyValue") < day),
        109: filtered(column("dateOnlyValue") <= day),
        110: filtered(column("dateOnlyValue").day < 4),
        111: filtered(column("dateOnlyValue").month == 5),
        112: filtered(column("dateOnlyValue").month < 5),
        113: filtered(column("dateTimeValue").day != 4),
        114: filtered(column("dateTimeValue").day < 4),
        115: filtered(column("dateTimeValue").month < 5),
        116: filtered(column("dateTimeValue").year == 1977),
        117: filtered(column("dateTimeValue").year != 1977),
        118: filtered(column("dateTimeValue").hour == 12),
        119: filtered(column("dateTimeValue").hour > 12),
        120: filtered(column("dateTimeValue").hour < 12),
        121: filtered(column("dateTimeValue").minute < 30),
        122: filtered(column("dateTimeValue").second != 30),
        123: filtered(column("dateTimeValue").second > 30),
        124: filtered(column("dateTimeValue").second < 30),
        125: filtered(column("dateTimeOffsetValue") == moment),
        126: filtered(column("dateTimeOffsetValue") == moment),
        127: filtered(column("dateTimeOffsetValue") > moment),
        128: filtered(column("dateTimeOffsetValue") <= moment),
        129: filtered(column("dateTimeOffsetValue").day == 4),
        130: filtered(column("dateTimeOffsetValue").month != 5),
        131: filtered(column("dateTimeOffsetValue").month < 5),
        132: filtered(column("dateTimeOffsetValue").hour == 12),
        133: filtered(column("dateTimeOffsetValue").hour > 12),
        134: filtered(column("dateTimeOffsetValue").minute > 30),
        135: filtered(column("dateTimeOffsetValue").second != 30),
        136: filtered(column("enumValue") != "Completed"),
        137: filtered(column("enumValue") == "Completed"),
        138: filtered(column("guidValue") == guid),
        139: filtered(column("guidValue") != guid),
        140: filtered(column("intValue") == 42),
        141: filtered(column("intValue") >= 42),
        142: filtered(column("stringValue").concatenated("er") == "lager"),
        143: filtered(column("stringValue") == nil),
        144: filtered(column("stringValue").endsWith("abc")),
        145: filtered(column("stringValue").lowercased.endsWith(TableQuery.Term("abc").lowercased)),
        146: filtered(column("stringValue").lowercased == TableQuery.Term("abc").lowercased),
        147: filtered(column("stringValue").lowercased == TableQuery.Term("abc").lowercased),
        148: filtered(column("stringValue").startsWith("abc")),
        149: filtered(column("stringValue").startsWith("abc")),
        150: filtered(column("stringValue").lowercased.startsWith(TableQuery.Term("abc").lowercased)),
        151: filtered(column("stringValue").isIn(["A", "B"])),
        152: filtered(column("timeOnlyValue") >= time),
        153: filtered(column("timeOnlyValue") < time),
        154: filtered(column("timeOnlyValue").hour != 12),
        155: filtered(column("timeOnlyValue").hour > 12),
        156: filtered(column("timeOnlyValue").hour < 12),
        157: filtered(column("timeOnlyValue").minute != 30),
        158: filtered(column("timeOnlyValue").minute > 30),
        159: filtered(column("timeOnlyValue").minute < 30),
        160: filtered(column("timeOnlyValue").second == 30),
        161: filtered(column("timeOnlyValue").second < 30),
        162: filtered(column("intValue") / 60.0 == 2.0),
        163: filtered(column("intValue") % 60.0 == 2.0),
        164: filtered(column("intValue") - 1900 == 42),
        165: filtered(column("intValue") > 1900 && column("intValue") < 2000),
        166: .query(TableQuery("t").where(column("intValue") > 1900).where(column("intValue") < 2000)),
        167: .refused("longcount(byteArrayValue) gt 0"),
        168: .refused("sqrt(doubleValue) eq 4.0"),
        169: .left("a choice inside a condition; the builder has none, and one in a #Predicate is refused"),
        170: .refused("microsecond(dateTimeOffsetValue) gt 0"),
    ]

    /// Rows 171 to 174: the client of Azure Mobile Apps, version 6.
    static let version6: [Int: QueryCase] = [
        171: filtered(column("stringProperty").endsWith("abc")),
        172: filtered(column("stringProperty").endsWith("abc")),
        173: filtered(column("stringProperty").lowercased == TableQuery.Term("abc").lowercased),
        174: filtered(column("stringProperty").lowercased.startsWith(TableQuery.Term("abc").lowercased)),
    ]

    /// What stands for `{comparison:D}` in the rows.
    static let guidText = "0f8fad5b-d9cb-469f-a165-70867728950e"
    private static let guid = TableQuery.Term.guid(guidText)!
    private static let day = TableQuery.Term.day(Timestamp("1977-05-04")!)
    private static let moment = date("1977-05-04T18:30:45.107Z")
    private static let time = TableQuery.Term.timeOfDay("18:33:45.876")!

    private static func filtered(_ condition: TableQuery.Term) -> QueryCase { .query(TableQuery("t").where(condition)) }
}
