/// The files of the repository that tests read, and those that they write.
package enum Repository {
    /// The repository's folder, which is three above this file's.
    package static let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        .joined(separator: "/")

    /// The path of a file or a folder that is named as from the repository's folder: `docs/sync.md`.
    package static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// The path of what tests read.
    package static func fixture(_ name: String) -> String { path("Tests/Data/Fixtures/\(name)") }

    /// The path of a list that tests write or read.
    package static func record(_ name: String) -> String { path("Tests/Data/Records/\(name)") }
}
