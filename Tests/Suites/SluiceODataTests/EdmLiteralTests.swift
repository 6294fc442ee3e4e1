import SluiceBase
import SluiceOData
import Testing

@Suite("values in addresses and bodies of OData")
struct EdmLiteralTests {
    @Test(
        "a plain text has one literal in each version",
        arguments: [
            ("O'Brien", EdmPrimitive.string, "'O''Brien'", "'O''Brien'"),
            ("9007199254740993", .int64, "9007199254740993L", "9007199254740993"),
            ("-5", .int32, "-5", "-5"),
            (
                "12345678901234567890.1234567890", .decimal, "12345678901234567890.1234567890M",
                "12345678901234567890.1234567890"
            ),
            ("1.5", .double, "1.5d", "1.5"), ("1.5", .single, "1.5f", "1.5"), ("true", .boolean, "true", "true"),
            (
                "6f9619ff-8b86-d011-b42d-00c04fc964ff", .guid, "guid'6f9619ff-8b86-d011-b42d-00c04fc964ff'",
                "6f9619ff-8b86-d011-b42d-00c04fc964ff"
            ),
            (
                "2013-09-16T00:00:00.123Z", .dateTimeOffset, "datetimeoffset'2013-09-16T00:00:00.123Z'",
                "2013-09-16T00:00:00.123Z"
            ),
            ("PT14H30M", .time, "time'PT14H30M'", "PT14H30M"), ("PT1S", .duration, "duration'PT1S'", "duration'PT1S'"),
            ("2013-09-16", .date, "2013-09-16", "2013-09-16"), ("12:30:00", .timeOfDay, "12:30:00", "12:30:00"),
            ("_-8", .binary, "X'FFEF'", "binary'_-8'"),
        ])
    func literals(_ plain: String, _ type: EdmPrimitive, _ v2: String, _ v4: String) {
        #expect(EdmLiteral.text(of: plain, type: type, version: .v2) == v2)
        #expect(EdmLiteral.text(of: plain, type: type, version: .v4) == v4)
        #expect(EdmLiteral.plain(v2, type: type) == plain)
        #expect(EdmLiteral.plain(v4, type: type) == plain)
    }

    @Test("a v2 time without a zone is written in UTC")
    func dateTime() {
        let literal = EdmLiteral.text(of: "2013-09-16T02:00:00+02:00", type: .dateTime, version: .v2)
        #expect(literal == "datetime'2013-09-16T00:00:00'")
        #expect(EdmLiteral.plain("datetime'2013-09-16T00:00'", type: .dateTime) == "2013-09-16T00:00:00Z")
        #expect(EdmLiteral.plain("datetime'2013-09-16T00:00:00'", type: .dateTime) == "2013-09-16T00:00:00Z")
    }

    @Test(
        "what is no plain form of the type has no literal",
        arguments: [
            ("05", EdmPrimitive.int32), ("+5", .int64), ("256", .byte), ("1e", .double), ("' or 1 eq 1", .guid),
            ("6F9619FF-8B86-D011-B42D-00C04FC964FF", .guid), ("2013'", .dateTimeOffset), ("yes", .boolean),
            ("a?", .binary), ("x", .stream),
        ])
    func refused(_ plain: String, _ type: EdmPrimitive) {
        #expect(EdmLiteral.text(of: plain, type: type, version: .v2) == nil)
        #expect(EdmLiteral.text(of: plain, type: type, version: .v4) == nil)
    }

    @Test(
        "v2's times keep their zone on both ways",
        arguments: [
            ("/Date(1379289600000)/", EdmPrimitive.dateTime, "2013-09-16T00:00:00Z"),
            ("/Date(-1)/", .dateTime, "1969-12-31T23:59:59.999Z"),
            ("/Date(1379289600000+0060)/", .dateTimeOffset, "2013-09-16T01:00:00+01:00"),
            ("/Date(1379289600000-0330)/", .dateTimeOffset, "2013-09-15T18:30:00-05:30"),
            ("/Date(1379289600000+0000)/", .dateTimeOffset, "2013-09-16T00:00:00Z"),
        ])
    func dates(_ wire: String, _ type: EdmPrimitive, _ text: String) {
        #expect(EdmValue.fromWire(JSON(wire), type: type, version: .v2) == JSON(text))
        #expect(EdmValue.toWire(JSON(text), type: type, version: .v2) == JSON(wire))
    }

    @Test(
        "what is no time stays as it is",
        arguments: [
            "/Date()/", "/Date(9223372036854775807)/", "/Date(1+9999)/", "/Date(1-9223372036854775808)/", "/Date(1+)/",
            "/Date(", "/Date(x)/",
        ])
    func noDates(_ text: String) {
        #expect(EdmValue.fromWire(JSON(text), type: .dateTime, version: .v2) == JSON(text))
    }

    @Test(
        "integers of 64 bits and decimals of 28 digits are kept",
        arguments: ["9007199254740993", "1234567890123456789012345.678"])
    func numbers(_ text: String) throws {
        let type: EdmPrimitive = text.contains(".") ? .decimal : .int64
        let number = EdmValue.fromWire(JSON(text), type: type, version: .v2)
        #expect(number.number?.description == text)
        #expect(EdmValue.toWire(number, type: type, version: .v2) == JSON(text))
        #expect(EdmValue.toWire(number, type: type, version: .v4) == number)
    }
}
