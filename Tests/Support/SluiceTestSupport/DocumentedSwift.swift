internal import Foundation
internal import RepositoryFiles

/// The Swift of a page of the documentation, held against the file that compiles it.
package enum DocumentedSwift {
    /// The blocks of a page that are not in the file, line by line; comments after code do not count.
    package static func notCompiled(of page: String, in file: String) throws -> [String] {
        let text = try String(contentsOfFile: Repository.path("docs/\(page)"), encoding: .utf8)
        let source = lines(try String(contentsOfFile: file, encoding: .utf8)[...])
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
