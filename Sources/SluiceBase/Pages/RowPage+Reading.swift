extension RowPage {
    /// Reads a page from the bytes of an answer: a bare array of rows, or an object that holds them as `shape` says.
    ///
    /// - Parameter requiresIDs: whether a row without an id is an error, as it is for a page that is stored. Else its
    ///   id is empty: a projection may leave the id out.
    /// - Parameter setsAside: whether a row that cannot be stored is reported by ``problems`` instead of failing the
    ///   page.
    /// - Throws: ``SluiceError`` of code `brokenProtocol`: for bytes that are not JSON (the cause is the
    ///   ``JSONParseError``), for an answer without rows, and for a row that is not an object with a non-empty string
    ///   id (or an integer, where allowed), which the message names by its index.
    package init(
        bytes: [UInt8], columns: SystemColumns = SystemColumns(), shape: Shape = .results, table: String? = nil,
        allowsIntegerIDs: Bool = false, requiresIDs: Bool = true, setsAside: Bool = false,
        maximumValues: Int = .max
    ) throws(SluiceError) {
        let read = bytes.withUnsafeBufferPointer { buffer -> Result<RowPage, SluiceError> in
            do throws(SluiceError) {
                return .success(
                    try Self.read(
                        bytes, buffer, columns, shape, table, allowsIntegerIDs, requiresIDs, setsAside, maximumValues))
            } catch {
                return .failure(error)
            }
        }
        self = try read.get()
    }

    private static func read(
        _ bytes: [UInt8], _ buffer: UnsafeBufferPointer<UInt8>, _ columns: SystemColumns, _ shape: Shape,
        _ table: String?, _ allowsIntegerIDs: Bool, _ requiresIDs: Bool, _ setsAside: Bool, _ maximumValues: Int
    ) throws(SluiceError) -> RowPage {
        let tape: JSONTape
        var brokenTexts: [UInt32]? = setsAside ? [] : nil
        do throws(JSONParseError) {
            // A row is two levels down at the most. What nests deeper than a row may is set aside with its row.
            tape = try JSONTape(
                buffer, maximumValues: maximumValues, maximumDepth: JSON.maximumDepth + (setsAside ? 2 : 0),
                brokenTexts: &brokenTexts)
        } catch {
            throw SluiceError(
                error.isTooLarge ? .tooLarge : .brokenProtocol,
                error.isTooLarge
                    ? "The server's answer has \(error.reason) (Limits.responseValues)."
                    : "The server's answer is not the page of rows that was asked for.", table: table, cause: error)
        }
        var reader = RowPageReader(
            tape: tape, bytes: buffer, columns: columns, table: table, allowsIntegerIDs: allowsIntegerIDs,
            requiresIDs: requiresIDs, setsAside: setsAside, brokenTexts: brokenTexts ?? [])
        let parts = try reader.parts(shape)
        let rows = try reader.rows(in: parts.rows)
        return RowPage(
            rows: rows, problems: reader.problems, count: parts.count, nextLink: parts.nextLink, bytes: bytes,
            tape: tape)
    }

    /// Reads a page from an answer that something asked to see as a document: it is printed and read again, so that
    /// the rules are the same.
    ///
    /// - Throws: as ``init(bytes:columns:shape:table:)``.
    package init(
        document: JSON, columns: SystemColumns = SystemColumns(), shape: Shape = .results, table: String? = nil
    ) throws(SluiceError) {
        try self.init(bytes: document.bytes(), columns: columns, shape: shape, table: table)
    }

    /// Makes a page of records.
    ///
    /// - Throws: as ``init(bytes:columns:shape:table:)``.
    package init(
        records: [JSON], columns: SystemColumns = SystemColumns(), table: String? = nil
    ) throws(SluiceError) {
        try self.init(document: JSON(records), columns: columns, table: table)
    }
}
