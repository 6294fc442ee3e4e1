internal import SluiceCore

/// The claim of one daemon to the folder of its policy: a kernel lock on a file in it. Two daemons in one folder would
/// overwrite each other's state. The lock ends with the process, even after a crash.
package final class PolicyFolderClaim: Sendable {
    private let file: OpenFile

    /// Claims a folder that exists.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` if another daemon has it; of `invalidArgument` if the file cannot be
    ///   written.
    init(of folder: String, process: Int) throws(SluiceError) {
        let path = Self.path(in: folder)
        let file: OpenFile
        do throws(SystemFailure) {
            file = try OpenFile(path, [.updating, .creating])
        } catch {
            throw SluiceError(.invalidArgument, "\(path): the file cannot be written: \(error.reason)")
        }
        guard (try? file.claim()) == true else {
            let bytes = (try? file.read(upTo: 32, at: 0)) ?? []
            let other = Int(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self))
            throw SluiceError(
                .storeBusy,
                "the folder of the policy \(folder) is held by "
                    + (other.map { "the daemon with process id \($0)" } ?? "another daemon")
                    + ": each daemon needs a policy.folder of its own")
        }
        do throws(SystemFailure) {
            try file.truncate(to: 0)
            try file.write(Array("\(process)\n".utf8), at: 0)
        } catch {
            file.release()
            throw SluiceError(.invalidArgument, "\(path): the file cannot be written: \(error.reason)")
        }
        self.file = file
    }

    deinit { file.release() }

    /// Whether the locked file is the one in a folder: not after somebody has removed it.
    package func isIn(_ folder: String) -> Bool { file.isAt(Self.path(in: folder)) }

    private static func path(in folder: String) -> String { "\(folder)/daemon" }
}
