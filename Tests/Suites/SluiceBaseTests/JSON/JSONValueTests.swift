import SluiceCore
import Testing

@Suite("A JSON value")
struct JSONValueTests {
    @Test("a copy and its original do not see each other's changes, however deep")
    func copyOnWrite() throws {
        var original = try JSON(parsing: #"{"a":{"b":[1,{"c":2}]},"z":[]}"#)
        let copy = original
        original["a"]?["b"]?.append(3)
        original["z"] = nil
        #expect(copy.description == #"{"a":{"b":[1,{"c":2}]},"z":[]}"#)
        #expect(original.description == #"{"a":{"b":[1,{"c":2},3]}}"#)
        var child = try #require(copy["a"])
        child["b"] = "changed"
        #expect(copy["a"]?["b"]?.count == 2)
        var list = JSON.array
        list.append(1)
        list.append(list)
        #expect(list.description == "[1,[1]]")
        var own: JSON = ["x": 1]
        own["self"] = own
        #expect(own.description == #"{"x":1,"self":{"x":1}}"#)
    }

    @Test("setting keeps the place of a known member, and makes an object of what is none")
    func members() {
        var value: JSON = ["a": 1, "b": 2]
        value["a"] = .null
        value["c"] = 3
        #expect(value.names == ["a", "b", "c"])
        #expect(value["a"]?.isNull == true)
        var number: JSON = 5
        number["x"] = 1
        #expect(number == ["x": 1])
        value["n\u{0}"] = 1
        #expect(value.count == 3)
        #expect(value["\u{0}"] == nil)
    }

    @Test("a number kept as text is no object, and an object is no number")
    func numberMark() throws {
        let number = try JSON(parsing: "18446744073709551616")
        #expect(number.kind == .number)
        #expect(number.members == nil)
        #expect(number.names.isEmpty)
        #expect(number.count == 0)
        #expect(number["\u{0}"] == nil)
        #expect(number[""] == nil)
        var changed = number
        changed["x"] = 1
        #expect(changed.description == #"{"x":1}"#)
        for text in [#"{"":"1.10"}"#, #"{"a":"1.10"}"#, #"{"0":1}"#] {
            let object = try JSON(parsing: text)
            #expect(object.kind == .object)
            #expect(object.number == nil)
            var copy = object
            copy["n"] = number
            copy["m"] = 1
            #expect(copy["n"] == number)
        }
        var holder: JSON = ["n": number]
        let before = holder
        holder["x"] = 1
        #expect(holder["n"] == before["n"])
        #expect(holder.description == #"{"n":18446744073709551616,"x":1}"#)
    }

    @Test(
        "equal values have equal hashes, whatever the order of members and the spelling of numbers",
        arguments: [
            ("1", "1.0"), ("1", "1.00"), ("100", "1e2"), ("0", "-0"), ("0.0", "-0.0"), ("0", "0e99"),
            ("18446744073709551616", "18446744073709551616.0"), (#"{"a":1,"b":[2]}"#, #"{"b":[2.0],"a":1}"#),
            (#""é""#, #""\u00e9""#),
        ])
    func equality(_ left: String, _ right: String) throws {
        let (left, right) = (try JSON(parsing: left), try JSON(parsing: right))
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
    }

    @Test(
        "different values are not equal",
        arguments: [
            ("1", "2"), ("1", "\"1\""), ("18446744073709551616", "18446744073709551617"), ("null", "false"),
            ("9007199254740993", "9007199254740992.0"), ("[]", "{}"), ("[1,2]", "[2,1]"), (#"{"a":1}"#, #"{"b":1}"#),
            (#"{"a":null}"#, "{}"), (#"{"":"5"}"#, "5"), ("1e999999999999999999999", "1e999999999999999999998"),
        ])
    func inequality(_ left: String, _ right: String) throws {
        #expect(try JSON(parsing: left) != JSON(parsing: right))
    }

    @Test("equality of numbers carries over from one to the next")
    func transitive() throws {
        let texts = ["1152921504606846976", "1.152921504606847e+18", "1152921504606847000", "1152921504606847000.0"]
        let numbers = try texts.map { try #require(JSON.Number(text: $0)) } + [try #require(JSON.Number(0x1p60))]
        for a in numbers {
            for b in numbers where a == b {
                for c in numbers where b == c { #expect(a == c) }
                #expect(a.hashValue == b.hashValue)
                #expect(a.int == b.int)
            }
        }
    }

    @Test("a number's integer is exact or none")
    func integers() {
        let cases: [(String, Int64?)] = [
            ("5", 5), ("5.0", 5), ("5.00", 5), ("5e0", 5), ("50e-1", 5), ("-0", 0), ("0.5", nil),
            ("1e18", 1_000_000_000_000_000_000),
            ("1e19", nil), ("9223372036854775807.0", .max), ("-9223372036854775808.0", .min),
            ("9223372036854775808", nil), ("9007199254740993.0", 9_007_199_254_740_993),
            ("1e99999999999999999999", nil),
        ]
        for (text, int) in cases { #expect(JSON.Number(text: text)?.int == int, "\(text)") }
        for text in ["", "1 ", " 1", "0x1", "1.", "nan", "inf", "--1", "1e"] { #expect(JSON.Number(text: text) == nil) }
    }
}
