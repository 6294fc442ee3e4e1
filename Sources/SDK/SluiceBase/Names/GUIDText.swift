extension String {
    /// Whether the text is a GUID in the usual form: 8, 4, 4, 4 and 12 hexadecimal digits with hyphens between them.
    package var isGUID: Bool {
        utf8.count == 36
            && utf8.enumerated().allSatisfy { index, byte in
                if index == 8 || index == 13 || index == 18 || index == 23 { return byte == UInt8(ascii: "-") }
                return byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
            }
    }
}
