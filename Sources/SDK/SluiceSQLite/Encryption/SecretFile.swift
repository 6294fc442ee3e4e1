internal import SluiceCore

/// Files that hold a key or a passphrase.
enum SecretFile {
    /// The largest size that is read, in bytes.
    static let maximumSize = 4096

    /// Returns the content of the file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a file that is readable for everyone, empty or too long,
    ///   `storeInputOutput` if it cannot be read.
    static func content(of path: String) throws -> SecretBytes {
        let file = try calling(path, "read") { () throws(SystemFailure) in try OpenFile(path) }
        let status = try calling(path, "read") { () throws(SystemFailure) in try file.status() }
        guard !status.isFile || status.permissions & 0o007 == 0 else {
            throw SluiceError(
                .invalidArgument, "everyone may read or write the file \(path), which is to be secret; chmod 600 it")
        }
        var count = 0
        // A pipe has no size, so the largest allowed size is read.
        let content = try SecretBytes(count: maximumSize + 1) { place in
            count = try calling(path, "read") { () throws(SystemFailure) in try file.fill(place) }
        }
        guard (1...maximumSize).contains(count) else {
            throw SluiceError(.invalidArgument, "the file \(path) has to have 1 to \(maximumSize) bytes")
        }
        return try content.withBytes { try SecretBytes($0[..<count]) }
    }

    /// Creates the file, for its owner only.
    static func make(_ bytes: SecretBytes, at path: String) throws {
        let draft = try calling(path, "made") { () throws(SystemFailure) in try FileDraft(of: path) }
        do {
            try bytes.withBytes { bytes in
                try calling(path, "written") { () throws(SystemFailure) in
                    try draft.file.write(bytes)
                    try draft.finish()
                }
            }
        } catch {
            draft.discard()
            throw error
        }
    }

    private static func calling<Result>(
        _ path: String, _ what: String, _ body: () throws(SystemFailure) -> Result
    ) throws(SluiceError) -> Result {
        do throws(SystemFailure) {
            return try body()
        } catch {
            throw SluiceError(.storeInputOutput, "the file \(path) cannot be \(what) (\(error.reason))")
        }
    }
}
