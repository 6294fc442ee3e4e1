internal import Foundation
internal import Sluice

/// The lines of a file, one at a time; its pointer is used by one reader only, which is why it may be `Sendable`
/// unchecked.
final class FileLines: @unchecked Sendable {
    private let file: UnsafeMutablePointer<FILE>
    private let path: String

    init(_ path: String) throws {
        guard let file = fopen(path, "re") else {
            throw CommandFailure.usage("\(Plain.line(path)) cannot be read: \(String(cString: strerror(errno)))")
        }
        self.file = file
        self.path = path
    }

    deinit { fclose(file) }

    func next() throws -> String? {
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        let count = getline(&line, &capacity, file)
        guard count > 0, let line else {
            if ferror(file) != 0 { throw CommandFailure.usage("\(Plain.line(path)) cannot be read to its end") }
            return nil
        }
        let bytes = UnsafeRawBufferPointer(start: line, count: count)
        guard let text = String(validating: bytes.last == 0x0A ? bytes.dropLast() : bytes[...], as: UTF8.self) else {
            throw CommandFailure(.usage, "invalidJSON", "the export is not UTF-8")
        }
        return text
    }
}
