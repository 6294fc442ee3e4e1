internal import SluiceCore

/// Errors in words, as commands print them.
enum CommandText {
    static func reason(_ error: any Error) -> String {
        guard let error = error as? SluiceError else { return "\(error)" }
        let cause = error.cause.map { "\($0)" } ?? ""
        return error.message + (cause.isEmpty ? "" : ": \(cause)")
    }
}
