import SluiceCore
import SluiceTestSupport
import Testing

@Suite("Entity tags")
struct ETagTests {
    @Test(
        "a version is quoted, and a quote in it escaped once",
        arguments: [
            ("A", #""A""#), (#"a"b"#, #""a\"b""#), (#"a\"b"#, #""a\"b""#), ("", #""""#),
            ("AAAAAAAALNU=", #""AAAAAAAALNU=""#), (#"""#, #""\"""#), (#""""#, #""\"\"""#),
        ])
    func quoted(version: String, field: String) {
        #expect(ETag.quoted(version) == field)
    }

    @Test(
        "a strong tag is read without its quotes",
        arguments: [
            ("abc", "abc"), (#""AAAAAAAALNU=""#, "AAAAAAAALNU="), (#""a\"b""#, #"a"b"#), (#"""#, #"""#),
            (#""""#, ""), (#""a"#, #""a"#),
        ])
    func read(field: String, version: String) {
        #expect(ETag(field) == .strong(version))
        #expect(ETag(field).version == version)
    }

    @Test("a weak tag is kept whole and is no version", arguments: [#"W/"17-abc""#, #"W/"x""#, "W/x"])
    func weak(field: String) {
        #expect(ETag(field) == .weak(field))
        #expect(ETag(field).version == nil)
    }
}
