internal import CJansson
internal import SluiceCore

/// What must hold for any bytes as JSON.
enum JSONFuzz {
    static func check(_ input: [UInt8]) throws(FuzzFinding) {
        let document: JSON?
        do throws(JSON.ParseError) {
            document = try JSON(parsing: input)
        } catch {
            try demand(
                (0...input.count).contains(error.offset) && error.line >= 1 && error.column >= 1,
                "no place in the text: \(error)")
            document = nil
        }
        try checkAcceptance(input, isRead: document != nil)
        try PageFuzz.check(input, document)
        guard let document else { return }
        try checkPrinting(document)
        try checkNumbers(input)
    }

    /// Jansson's own reader accepts the same texts, except for numbers that it has no type for, for deeper nesting, and
    /// for NUL bytes, some of which it passes over.
    private static func checkAcceptance(_ input: [UInt8], isRead: Bool) throws(FuzzFinding) {
        if input.contains(0) { return try demand(!isRead, "a text with a NUL byte is accepted") }
        var error = json_error_t()
        let flags = 0x1 | 0x4 | 0x10  // JSON_REJECT_DUPLICATES, JSON_DECODE_ANY, JSON_ALLOW_NUL
        let value = input.withUnsafeBytes {
            json_loadb($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, flags, &error)
        }
        if let value {
            sluice_json_release(value)
            try demand(isRead || isDeep(input), "jansson accepts what is refused")
        } else {
            // The code is the last byte of the message.
            let code = withUnsafeBytes(of: &error.text) { $0.last.map { json_error_code(UInt32($0)) } }
            try demand(!isRead || code == json_error_numeric_overflow, "jansson refuses what is accepted")
        }
    }

    /// Whether a text that is JSON nests deeper than Sluice reads.
    private static func isDeep(_ input: [UInt8]) -> Bool {
        var depth = 0
        var deepest = 0
        var isText = false
        var isEscape = false
        for byte in input {
            if isEscape {
                isEscape = false
            } else if isText && byte == UInt8(ascii: "\\") {
                isEscape = true
            } else if byte == UInt8(ascii: "\"") {
                isText.toggle()
            } else if !isText && (byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")) {
                depth += 1
                deepest = max(deepest, depth)
            } else if !isText && (byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}")) {
                depth -= 1
            }
        }
        return deepest > JSON.maximumDepth
    }

    /// What is printed is read as the same document and printed as the same text.
    private static func checkPrinting(_ document: JSON) throws(FuzzFinding) {
        let printed = document.bytes()
        let again: JSON
        do {
            again = try JSON(parsing: printed)
        } catch {
            throw FuzzFinding("what is printed is not read: \(error): \(String(decoding: printed, as: UTF8.self))")
        }
        try demand(again == document && again.hashValue == document.hashValue, "printed as another document")
        try demand(again.bytes() == printed, "printed otherwise the second time")
        let decoded = try? JSONRecordDecoder().decode(JSON.self, from: document)
        try demand(decoded == document, "decoded as another document")
    }

    /// Every number is worth what its text says, and is printed as it was written.
    private static func checkNumbers(_ input: [UInt8]) throws(FuzzFinding) {
        let numbers = input.withUnsafeBufferPointer { bytes -> [(String, JSON.Number)] in
            let tape = try? JSONTape(bytes)
            return (tape?.tokens ?? []).compactMap { token in
                guard token.kind == .number, let written = tape?.bytes(token, in: bytes) else { return nil }
                return (
                    String(decoding: written, as: UTF8.self), JSON.Number(valid: written, hasFraction: token.flag)
                )
            }
        }
        for (text, number) in numbers {
            try demand(number.description == text, "\(text) is printed as \(number)")
            try demand(JSON.Number(text: text) == number, "\(text) is not \(number)")
            try demand(number.double == Double(text), "\(text) as a double is \(number.double)")
            if let int = Int64(text) { try demand(number.int == int, "\(text) as an integer is not that") }
            if let int = number.int {
                try demand(
                    JSON.Number(int) == number && JSON.Number(int).hashValue == number.hashValue, "\(text) ≠ \(int)")
            }
        }
    }
}
