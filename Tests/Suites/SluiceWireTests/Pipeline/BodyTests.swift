import SluiceCore
import Testing

@Suite("Bodies") struct BodyTests {
    @Test("an empty body stays empty when someone has tried to read it as JSON")
    func empty() {
        let body = MessageBody.empty
        #expect(throws: JSON.ParseError.self) { try body.json }
        #expect(body.isEmpty)
        #expect(body.bytes.isEmpty)
        #expect(MessageBody.empty.isEmpty)
        #expect(MessageBody.empty.untouchedBytes == [])
    }

    @Test("a document is never empty, whether it has been printed or not")
    func document() throws {
        let body = MessageBody(json: .null)
        #expect(!body.isEmpty)
        #expect(body.bytes == Array("null".utf8))
        #expect(!body.isEmpty)
        let bytes = MessageBody(bytes: Array("{}".utf8))
        #expect(try bytes.json == .object)
        #expect(!bytes.isEmpty)
    }
}
