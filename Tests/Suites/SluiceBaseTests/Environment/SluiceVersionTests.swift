import SluiceCore
import Testing

@Suite struct SluiceVersionTests {
    @Test("the version is told with the commit's first twelve digits, or that nobody knows it")
    func commit() {
        let hash = "6472da436e98abcdef0123456789abcdef012345"
        #expect(SluiceVersion.full(commit: hash) == "\(SluiceVersion.text) (6472da436e98)")
        #expect(SluiceVersion.full(commit: "") == "\(SluiceVersion.text) (commit unknown)")
    }
}
