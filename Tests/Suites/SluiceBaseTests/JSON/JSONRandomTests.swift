import SluiceCore
import SluiceTestSupport
import Testing

@Suite("JSON of any content")
struct JSONRandomTests {
    @Test("a random document is printed and read back as itself", arguments: 1...10 as ClosedRange<UInt64>)
    func roundTrip(_ seed: UInt64) throws {
        var generator = JSONGenerator(seed: seed)
        for _ in 0..<30 {
            let document = generator.value(depth: 0)
            let text = document.bytes()
            let read = try JSON(parsing: text)
            #expect(read == document)
            #expect(read.hashValue == document.hashValue)
            #expect(read.bytes() == text)
            #expect(try JSONRecordDecoder().decode(JSON.self, from: read) == document)
        }
    }

    @Test(
        "changed bytes are refused with a place in the text, or read as what is printed again",
        arguments: 1...10 as ClosedRange<UInt64>)
    func mutations(_ seed: UInt64) throws {
        var generator = JSONGenerator(seed: seed)
        var refused = 0
        for _ in 0..<150 {
            let text = generator.mutated(generator.value(depth: 0).bytes())
            do throws(JSON.ParseError) {
                let read = try JSON(parsing: text)
                #expect(try JSON(parsing: read.bytes()) == read)
            } catch {
                refused += 1
                #expect((0...text.count).contains(error.offset))
                #expect(error.line >= 1 && error.column >= 1)
            }
            _ = try? RowPage(bytes: text)
        }
        #expect(refused > 0)
    }
}

/// Makes documents and breaks their texts, the same for the same seed.
struct JSONGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    mutating func value(depth: Int) -> JSON {
        switch below(depth < 6 ? 10 : 6) {
        case 0: return .null
        case 1: return JSON(below(2) == 0)
        case 2: return JSON(Int64(bitPattern: next()) >> Int64(below(64)))
        case 3: return JSON(Double(bitPattern: next()))
        case 4: return JSON.Number(text: numberText()).map { JSON($0) } ?? .null
        case 5: return JSON(text(nul: true))
        case 6, 7: return JSON((0..<below(6)).map { _ in value(depth: depth + 1) })
        default:
            let count = below(12) == 0 ? 40 : below(6)
            return JSON(members: (0..<count).map { _ in (text(nul: false), value(depth: depth + 1)) })
        }
    }

    private mutating func numberText() -> String {
        func digits(_ count: Int) -> String { (0..<count).map { _ in String(below(10)) }.joined() }
        var text = below(2) == 0 ? "-" : ""
        text += below(3) == 0 ? "0" : "\(1 + below(9))" + digits(below(22))
        if below(2) == 0 { text += "." + digits(1 + below(20)) }
        if below(3) == 0 { text += ["e", "E", "e+", "e-"][below(4)] + digits(1 + below(4)) }
        return text
    }

    private mutating func text(nul: Bool) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<below(20) {
            let code: Int
            switch below(8) {
            case 0: code = below(0x20)
            case 1: code = [0x22, 0x5C, 0x2F, 0x7F][below(4)]
            case 2: code = 0x80 + below(0x780)
            case 3: code = 0x800 + below(0xF800)
            case 4: code = 0x10000 + below(0x100000)
            default: code = 0x20 + below(0x5F)
            }
            if let scalar = Unicode.Scalar(UInt32(code)), nul || code != 0 { text.append(scalar) }
        }
        return String(text)
    }

    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let marks = Array("{}[]\",:\\u0-.e19tfn \n".utf8) + [0x00, 0x1F, 0x80, 0xC3, 0xED, 0xF4, 0xFF]
        for _ in 0..<1 + below(3) where !bytes.isEmpty {
            let place = below(bytes.count)
            switch below(5) {
            case 0: bytes[place] = UInt8(below(256))
            case 1: bytes[place] = marks[below(marks.count)]
            case 2: bytes.insert(marks[below(marks.count)], at: place)
            case 3: bytes.remove(at: place)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
