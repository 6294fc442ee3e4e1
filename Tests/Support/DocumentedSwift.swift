internal import Foundation

/// The Swift of a page of the documentation, held against the file that compiles it.
package enum DocumentedSwift {
    /// The blocks of a page that are not in the file, line by line; comments after code do not count.
    package static func notCompiled(of page: String, in file: String) throws -> [String] {
        let here = URL(fileURLWithPath: file)
        let parts = here.pathComponents
        guard let tests = parts.lastIndex(of: "Tests") else { return ["\(file) is not below Tests"] }
        let root = (tests..<parts.count).reduce(here) { url, _ in url.deletingLastPathComponent() }
        let text = try String(contentsOf: root.appendingPathComponent("docs/\(page)"), encoding: .utf8)
        let source = lines(try String(contentsOf: here, encoding: .utf8)[...])
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        guard !blocks.isEmpty else { return ["docs/\(page) has no Swift"] }
        return blocks.filter { block in
            let wanted = lines(block[...])
            return !source.indices.contains { source[$0...].starts(with: wanted) }
        }
    }

    /// The lines without indentation, comments after code, imports, and blank lines.
    private static func lines(_ text: Substring) -> [String] {
        text.split(separator: "\n").map {
            let code = $0.components(separatedBy: "   //")[0]
            return code.trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty && !$0.hasPrefix("import ") }
    }
}
