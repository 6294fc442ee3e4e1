import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// Every kind of change, disturbed in every way, with every write of another client and every edit that may follow: no
/// acknowledged write of the other is overridden without a conflict, none of ours is lost or done twice.
@Suite("Another client writes between a push and its repeat")
struct OtherClientTests {
    @Test("nobody's write is lost", arguments: OtherClientCase.Change.allCases)
    func nothingIsLost(_ change: OtherClientCase.Change) async throws {
        var failures: [String] = []
        let cases = OtherClientCase.all(change)
        for one in cases {
            let wrong = try await one.play()
            if !wrong.isEmpty { failures.append("\(one): \(wrong.joined(separator: "; "))") }
        }
        #expect(
            failures.isEmpty, "\(failures.count) of \(cases.count):\n\(failures.prefix(40).joined(separator: "\n"))")
    }
}
