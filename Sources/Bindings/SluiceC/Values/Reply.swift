internal import CSluice
internal import Glibc
internal import SluiceCore

/// Writes functions' results for their callers.
enum Reply {
    /// Runs the body of a function of the header: writes its result or its error, and returns the code.
    static func to(_ out: UnsafeMutablePointer<sluice_text>?, _ body: () throws -> JSON?) -> Int32 {
        bytes(to: out) { try body()?.bytes() ?? [] }
    }

    /// Runs the body as with a value, for a result that is already text.
    static func bytes(to out: UnsafeMutablePointer<sluice_text>?, _ body: () throws -> [UInt8]) -> Int32 {
        do {
            write(try body(), to: out)
            return Int32(SLUICE_OK)
        } catch {
            let failure = Failure(error)
            write(failure.json.bytes(), to: out)
            return failure.code
        }
    }

    /// Copies the bytes to a text with a terminating NUL, which its owner frees.
    static func write(_ bytes: some Collection<UInt8>, to out: UnsafeMutablePointer<sluice_text>?) {
        guard let out else { return }
        let count = bytes.count
        guard let memory = malloc(count + 1) else {
            out.pointee = sluice_text(bytes: nil, length: 0)
            return
        }
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: count + 1)
        buffer.copyBytes(from: bytes)
        buffer[count] = 0
        out.pointee = sluice_text(bytes: memory.assumingMemoryBound(to: CChar.self), length: count)
    }

    /// Frees a text.
    static func free(_ text: UnsafeMutablePointer<sluice_text>?) {
        guard let text else { return }
        Glibc.free(text.pointee.bytes)
        text.pointee = sluice_text(bytes: nil, length: 0)
    }
}
