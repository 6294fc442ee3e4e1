internal import Foundation

/// The argument of a command that reads a file: `-` is standard input.
enum InputArgument {
    /// Returns the content.
    ///
    /// - Throws: a usage failure for a file that cannot be read.
    static func read(_ file: String) throws -> [UInt8] {
        let bytes = file == "-" ? StandardInput.read() : FileManager.default.contents(atPath: file).map { Array($0) }
        guard let bytes else { throw CommandFailure.usage("\(name(of: file)) cannot be read") }
        return bytes
    }

    /// Returns the argument's name in messages.
    static func name(of file: String) -> String { file == "-" ? "standard input" : Plain.line(file) }
}
