/// The rows of a page as they came, read in place for as long as the page's bytes stay where they are: a member is found
/// without making the record that it is of.
package struct RowReader {
    private let page: RowPage
    private let bytes: UnsafeBufferPointer<UInt8>
    private let tokens: UnsafeBufferPointer<JSONTape.Token>

    fileprivate init(
        _ page: RowPage, _ bytes: UnsafeBufferPointer<UInt8>, _ tokens: UnsafeBufferPointer<JSONTape.Token>
    ) {
        self.page = page
        self.bytes = bytes
        self.tokens = tokens
    }

    /// The member of that name, in UTF-8, of the row at that index; nil if it has none.
    package func member(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> JSON? {
        find(name, at: index).map { JSON(page.tape, at: $0, in: bytes) }
    }

    /// As ``member(_:at:)``, a new value for C code to own.
    package func rawMember(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> UnsafeMutableRawPointer? {
        guard let place = find(name, at: index) else { return nil }
        return page.tape.value(at: place, in: bytes).map { UnsafeMutableRawPointer($0) }
    }

    /// Where in the tape the value of the member stands.
    private func find(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        let row = page.rows[index].token
        guard tokens[row].kind == .object else { return nil }
        let end = Int(tokens[row].next)
        var key = row + 1
        while key < end {
            let token = tokens[key]
            if token.flag {
                if page.tape.text(token, in: bytes).utf8.elementsEqual(name) { return key + 1 }
            } else if Int(token.end - token.start) == name.count, JSONText.equal(bytes, Int(token.start), name) {
                return key + 1
            }
            key = Int(token.next)
        }
        return nil
    }
}

extension RowPage {
    /// Calls `body` with a reader of the rows as they came.
    package func withReader<Result>(_ body: (RowReader) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBufferPointer { bytes in
            try tape.tokens.withUnsafeBufferPointer { tokens in try body(RowReader(self, bytes, tokens)) }
        }
    }

    /// The member of that name of a row as it came; nil if it has none.
    package func member(_ name: String, at index: Int) -> JSON? {
        var name = name
        return name.withUTF8 { name in withReader { $0.member(name, at: index) } }
    }
}
