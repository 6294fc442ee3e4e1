import SluiceCore
import Testing

@testable import SluiceLua

@Suite("The hash by which equal inputs of hooks are known again")
struct DocumentHashTests {
    private func hash(_ texts: String...) throws -> UInt64 {
        var hash = DocumentHash()
        for text in texts { hash.add(try JSON(parsing: text)) }
        return hash.value
    }

    @Test("equal documents have one, however they came about")
    func equal() throws {
        let text = #"{"id":"1","n":[1,2.5,null,true],"text":"twelve bytes and more"}"#
        var built: JSON = ["id": "1", "n": [1, 2.5, .null, true]]
        built["text"] = "twelve bytes and more"
        var other = DocumentHash()
        other.add(built)
        #expect(try hash(text) == other.value)
    }

    @Test("what differs in anything has another")
    func different() throws {
        let texts = [
            "1", "1.0", "\"1\"", "null", "true", "false", "[]", "{}", "[1]", "[[1]]", "[1,1]", #"{"1":1}"#, "\"\"",
            #""12345678""#, #""123456789""#, #""12345679""#, #"["ab","c"]"#, #"["a","bc"]"#, #"{"a":"b"}"#,
            #"{"b":"a"}"#, "12345678901234567890",
        ]
        let hashes = try texts.map { try hash($0) }
        #expect(Set(hashes).count == texts.count)
        #expect(try hash("[1]", "[2]") != hash("[2]", "[1]") && hash("[1]", "[2]") != hash("[1,2]"))
    }
}
