import SluiceCore
import Testing

@Suite("Typed records and documents")
struct JSONCodingTests {
    struct Everything: Codable, Equatable {
        struct Part: Codable, Equatable { var name: String }
        enum Mood: String, Codable { case calm, wild }
        enum Shape: Codable, Equatable { case dot, circle(radius: Double) }
        var text = "é\u{0}\"\n"
        var yes = true
        var int = Int.min
        var int8 = Int8.min
        var int16 = Int16.max
        var int32 = Int32.min
        var int64 = Int64.min
        var uint = UInt.max
        var uint8 = UInt8.max
        var uint16 = UInt16.max
        var uint32 = UInt32.max
        var uint64 = UInt64.max
        var double = 0.1
        var float: Float = 0.1
        var absent: Int?
        var present: Int? = 5
        var parts = [Part(name: "a"), Part(name: "")]
        var holes: [Int?] = [1, nil, 3]
        var grid = [[1, 2], [], [3]]
        var named = ["x": Part(name: "y")]
        var mood = Mood.wild
        var shapes: [Shape] = [.dot, .circle(radius: 1.5)]
        var any: JSON = ["n": .null, "list": [1, "two", 3.5]]
        var number = JSON.Number(text: "1.10") ?? JSON.Number(0)
        var time = Timestamp(ticks: 15_000_000_000_000_001)
    }

    @Test("a record of every type comes back as it went, through the text too")
    func roundTrip() throws {
        let value = Everything()
        let document = try JSONRecordEncoder().encode(value)
        #expect(document["uint64"]?.number?.description == "18446744073709551615")
        #expect(document["float"]?.description == "0.1")
        #expect(document["number"]?.description == "1.10")
        #expect(document["absent"] == nil)
        #expect(try JSONRecordDecoder().decode(Everything.self, from: document) == value)
        #expect(try JSONRecordDecoder().decode(Everything.self, from: JSON(parsing: document.bytes())) == value)
    }

    @Test(
        "numbers that are no doubles and no integers pass as they were written",
        arguments: ["18446744073709551616", "12345678901234567.89", "1.10", "-0", "1e5", "1E400"])
    func exactNumbers(_ text: String) throws {
        let document = try JSON(parsing: "{\"n\":\(text)}")
        let record = try JSONRecordDecoder().decode([String: JSON].self, from: document)
        #expect(try JSONRecordEncoder().encode(record).description == "{\"n\":\(text)}")
        let numbers = try JSONRecordDecoder().decode([String: JSON.Number].self, from: document)
        #expect(try JSONRecordEncoder().encode(numbers).description == "{\"n\":\(text)}")
    }

    struct Narrow: Codable {
        struct Inner: Codable { var small: [Int8] }
        var inner: Inner
    }

    @Test(
        "a number that does not fit is an error with its path",
        arguments: ["128", "-129", "1.5", "1e3", "18446744073709551616", "1e400"])
    func range(_ number: String) throws {
        let document = try JSON(parsing: "{\"inner\":{\"small\":[1,\(number)]}}")
        let error = #expect(throws: DecodingError.self) { try JSONRecordDecoder().decode(Narrow.self, from: document) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("expected corrupted data, got \(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["inner", "small", "Index 1"])
    }

    @Test(
        "an integer may be written with a point or an exponent", arguments: ["100", "100.0", "100.00", "1e2", "1.0E+2"])
    func integers(_ text: String) throws {
        let list = try JSON(parsing: "[\(text)]")
        #expect(try JSONRecordDecoder().decode([Int8].self, from: list) == [100])
        #expect(try JSONRecordDecoder().decode([UInt64].self, from: list) == [100])
    }

    @Test("another kind, null and absence are told apart")
    func mismatches() throws {
        let decoder = JSONRecordDecoder()
        func kind(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "none"
            } catch DecodingError.typeMismatch { return "mismatch" } catch DecodingError.valueNotFound {
                return "null"
            } catch DecodingError.keyNotFound { return "absent" } catch { return "other" }
        }
        #expect(kind { _ = try decoder.decode(Narrow.self, from: [:]) } == "absent")
        #expect(kind { _ = try decoder.decode(Narrow.self, from: ["inner": .null]) } == "null")
        #expect(kind { _ = try decoder.decode(Narrow.self, from: ["inner": 5]) } == "mismatch")
        #expect(kind { _ = try decoder.decode(Narrow.self, from: ["inner": ["small": ["1"]]]) } == "mismatch")
        #expect(kind { _ = try decoder.decode([Bool].self, from: [1]) } == "mismatch")
        #expect(kind { _ = try decoder.decode([String].self, from: [.null]) } == "null")
        #expect(kind { _ = try decoder.decode([Double].self, from: [1e300, 2]) } == "none")
    }

    @Test("what JSON cannot say is an error", arguments: [Double.infinity, -.infinity, .nan])
    func notFinite(_ value: Double) {
        #expect(throws: EncodingError.self) { try JSONRecordEncoder().encode(["a": [value]]) }
        #expect(throws: EncodingError.self) { try JSONRecordEncoder().encode(Float(value)) }
    }

    struct Nothing: Encodable { func encode(to encoder: any Encoder) throws {} }

    @Test("a type that writes nothing, and a name with a NUL, are errors")
    func refusals() throws {
        #expect(throws: EncodingError.self) { try JSONRecordEncoder().encode(Nothing()) }
        #expect(throws: EncodingError.self) { try JSONRecordEncoder().encode(["a\u{0}b": 1]) }
        #expect(try JSONRecordEncoder().encode(["a": Nothing()]) == ["a": [:]])
    }

    final class Deep: Codable {
        var inner: Deep?
    }

    @Test("nesting is allowed to the depth that texts have, and refused beyond")
    func depth() throws {
        func chain(_ count: Int) -> Deep {
            let outer = Deep()
            if count > 1 { outer.inner = chain(count - 1) }
            return outer
        }
        let document = try JSONRecordEncoder().encode(chain(64))
        #expect(throws: Never.self) { try JSON(parsing: document.bytes()) }
        #expect(throws: EncodingError.self) { try JSONRecordEncoder().encode(chain(66)) }
    }

    class Base: Codable { var id = "a" }
    final class Derived: Base {
        var title = "t"
        enum Keys: String, CodingKey { case title, tags, place, x }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            title = try container.decode(String.self, forKey: .title)
            var tags = try container.nestedUnkeyedContainer(forKey: .tags)
            #expect(try tags.decodeNil() == false)
            #expect(throws: DecodingError.self) { try tags.decode(String.self) }
            #expect(try tags.decode(Int.self) == 1)
            #expect(try tags.decodeNil())
            #expect(tags.isAtEnd)
            let place = try container.nestedContainer(keyedBy: Keys.self, forKey: .place)
            #expect(try place.decode(Double.self, forKey: .x) == 0.5)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var place = container.nestedContainer(keyedBy: Keys.self, forKey: .place)
            var tags = container.nestedUnkeyedContainer(forKey: .tags)
            try tags.encode(1)
            try container.encode(title, forKey: .title)
            try tags.encodeNil()
            try place.encode(0.5, forKey: .x)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test("nested containers and superclasses are written in order and read back")
    func inheritance() throws {
        let document = try JSONRecordEncoder().encode(Derived())
        #expect(document.description == #"{"place":{"x":0.5},"tags":[1,null],"title":"t","super":{"id":"a"}}"#)
        #expect(try JSONRecordDecoder().decode(Derived.self, from: document).id == "a")
    }

    @Test("a time is written as short as is exact, and read from any of its forms")
    func times() throws {
        let encoder = JSONRecordEncoder()
        let text = "2013-09-01T12:34:56.789Z"
        let time = try JSONRecordDecoder().decode(Timestamp.self, from: JSON(text))
        #expect(try encoder.encode(time) == JSON(text))
        #expect(try encoder.encode(Timestamp(ticks: 1)) == "1970-01-01T00:00:00.0000001Z")
        #expect(throws: DecodingError.self) { try JSONRecordDecoder().decode(Timestamp.self, from: "yesterday") }
    }

    struct Printed: JSONPrinted {
        var at: Timestamp?
        var recordID: RecordID?
        var any: JSON?
        var texts: [String?] = ["b", nil]
        var calls = ["b": 1, "c": 3, "a": 2]
        var tags: Set<String> = ["z", "a", "b"]
        var hidden = 0
        private enum CodingKeys: String, CodingKey { case recordID = "record", at, any, texts, calls, tags }
    }

    @Test("what is printed has all its members in the order of the keys, and collections in an order of their own")
    func printed() throws {
        let rest = #""texts":["b",null],"calls":{"a":2,"b":1,"c":3},"tags":["a","b","z"]"#
        #expect(Printed().json.description == #"{"record":null,"at":null,"any":null,\#(rest)}"#)
        let full = Printed(at: Timestamp(ticks: 10_000), recordID: 7, any: ["y": .null, "x": 1.10])
        let times = #""record":7,"at":"1970-01-01T00:00:00.0010000Z","any":{"y":null,"x":1.1}"#
        #expect(JSON(printing: [full]).description == #"[{\#(times),\#(rest)}]"#)
        #expect(JSON(printing: Double.nan).isNull)
    }
}
