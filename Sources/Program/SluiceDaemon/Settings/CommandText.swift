internal import Foundation
internal import NIOCore
internal import SluiceCore

/// Error texts for commands and the daemon's log: one sentence, without a library's internals.
package enum CommandText {
    package static func reason(_ error: any Error) -> String {
        guard let error = error as? SluiceError else { return words(error) }
        guard let cause = error.cause.map(words), !cause.isEmpty, !error.message.contains(cause) else {
            return error.message
        }
        return "\(error.message): \(cause)"
    }

    /// Returns the text of another library's error, without its function and file names.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as SluiceError: reason(error)
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as POSIXError: String(cString: strerror(error.code.rawValue))
        case let error as CocoaError: file(error)
        default: "\(error)"
        }
    }

    private static func file(_ error: CocoaError) -> String {
        let path = error.filePath.map { "\($0): " } ?? ""
        let reason = (error.underlying as? POSIXError).map { words($0) }
        return path + (reason ?? error.localizedDescription)
    }
}
