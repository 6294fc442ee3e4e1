import RepositoryFiles
import SluiceCore
import SluiceTestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Every case is read: what cannot be run is refused later, where it would be.
@Suite("what OData's grammar allows is read")
struct ODataGrammarTests {
    private struct Case: CustomStringConvertible {
        let rule: Substring
        let text: String
        let isAllowed: Bool

        var description: String { "\(rule): \(text)" }

        /// The options of a request that has it.
        private var query: String { rule == "expression" ? "$filter=\(text)" : text }

        /// Why it is not read; nil where it is.
        var refusal: TableQuery.SyntaxError? {
            do throws(TableQuery.SyntaxError) {
                _ = try ODataOptions(query)
                return nil
            } catch {
                return error
            }
        }
    }

    private let cases: [Case]

    init() throws {
        let file = URL(fileURLWithPath: Repository.fixture("odata-grammar-cases.txt"))
        cases = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard let first = line.first, first == "+" || first == "-", let space = line.firstIndex(of: " ") else {
                return nil
            }
            return Case(
                rule: line[line.index(after: line.startIndex)..<space], text: String(line[line.index(after: space)...]),
                isAllowed: first == "+")
        }
    }

    /// Texts that are not read, by design or by want.
    private static let unread: Set<String> = []

    @Test("those of each rule")
    func allowed() {
        let allowed = cases.filter(\.isAllowed)
        #expect(allowed.count > 300)
        for (rule, ofRule) in Dictionary(grouping: allowed, by: \.rule) {
            let unread = ofRule.filter { $0.refusal != nil }
            #expect(unread.count * 20 <= ofRule.count, "less than 95 % of \(rule) is read: \(unread)")
        }
        let unread = allowed.filter { $0.refusal != nil }
        #expect(Set(unread.map(\.text)) == Self.unread, "\(unread.map { "\($0): \($0.refusal?.reason ?? "")" })")
    }

    @Test("and what it does not allow is refused")
    func refused() {
        let read = cases.filter { !$0.isAllowed && $0.refusal == nil }
        #expect(read.isEmpty, "\(read)")
    }
}
