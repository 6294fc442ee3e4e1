internal import SluiceCore

/// What must hold for any text as a part of an answer or an address. The first line is a header field's value or a
/// link, the second an endpoint's address, the third the path that was asked for.
enum WireFuzz {
    static func check(_ input: [UInt8]) throws(FuzzFinding) {
        let text = String(decoding: input, as: UTF8.self)
        let lines = text.unicodeScalars.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
            .map { String($0) }
        try FieldFuzz.check(lines[0])
        try AddressFuzz.check(lines[0])
        try LinkFuzz.check(
            lines[0], endpoint: lines.count > 1 ? lines[1] : nil, path: lines.count > 2 ? lines[2] : nil)
        try FieldFuzz.checkMessage(input)
    }
}
