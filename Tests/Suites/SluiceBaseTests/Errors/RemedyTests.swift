import Testing

@testable import SluiceBase

@Suite("Each error names the next step")
struct RemedyTests {
    @Test("of each code, in a sentence of its own", arguments: SluiceError.Code.all)
    func remedy(_ code: SluiceError.Code) {
        let remedy = SluiceError(code, "it failed").remedy
        #expect(remedy != "Read the message." && remedy.hasSuffix("."))
        #expect(remedy.utf8.count < 120)
    }

    @Test("a code has the name that it prints", arguments: SluiceError.Code.all)
    func name(_ code: SluiceError.Code) {
        #expect(SluiceError.Code(code.description) == code)
    }
}
