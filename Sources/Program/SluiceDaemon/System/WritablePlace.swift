internal import Foundation
internal import Sluice
internal import SluiceConfiguration

/// The rule for files that the daemon makes: their folder is there, and may be written.
enum WritablePlace {
    /// - Parameter name: the setting that names the file.
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    static func check(_ path: String, for name: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileStatus(folder)?.isFolder == true else {
            throw SluiceError(.invalidArgument, "\(name): there is no folder \(PlainText.line(folder))")
        }
        guard access(folder, W_OK | X_OK) == 0 else {
            throw SluiceError(
                .invalidArgument,
                "\(name): the folder \(PlainText.line(folder)) cannot be written: \(SystemFailure.last("access").reason)"
            )
        }
    }
}
