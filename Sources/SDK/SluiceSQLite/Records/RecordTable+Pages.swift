package import SluiceCore

extension RecordTable {
    /// Puts rows of a page straight from its bytes. The stored content equals that of ``put(_:on:)`` for each row's
    /// record.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a row without a string id.
    package func put(_ rows: RowPage.Selection, on connection: SQLiteConnection) throws {
        if rows.indices.isEmpty { return }
        let page = rows.page
        let statement = try connection.statement(upsertSQL)
        try page.bytes.withUnsafeBufferPointer { bytes in
            try page.tape.tokens.withUnsafeBufferPointer { tokens in
                let lengths = rows.indices.lazy.map { index in
                    let object = tokens[page.rows[index].token]
                    return Int(object.end - object.start)
                }
                try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: lengths.max() ?? 0) { decoded in
                    // Until then the statement holds pointers into the page and into the buffer for decoded text.
                    defer { statement.reset() }
                    var binder = RecordPageBinder(
                        self, statement, page, bytes: bytes, tokens: tokens, decoded: decoded)
                    for index in rows.indices { try put(index, of: page, with: &binder, on: connection) }
                }
            }
        }
    }

    private func put(
        _ index: Int, of page: RowPage, with binder: inout RecordPageBinder, on connection: SQLiteConnection
    ) throws {
        do {
            switch page.revision(at: index) {
            case nil: try binder.put(page.rows[index].token, with: nil)
            case .members(let members): try binder.put(page.rows[index].token, with: members)
            case .record(let record): try put(record, on: connection)
            }
        } catch var error as SluiceError {
            error.table = schema.name
            error.recordID = page.rows[index].id
            throw error
        }
    }
}

/// Binds rows of a page to a table's upsert statement, value by value, without a document between.
struct RecordPageBinder {
    private let table: RecordTable
    private let statement: SQLiteStatement
    private let page: RowPage
    private let bytes: UnsafeBufferPointer<UInt8>
    private let tokens: UnsafeBufferPointer<JSONTape.Token>
    private let names: RecordMemberNames
    /// For each position in a row, the one of `names` that stood there last: rows of one server are alike.
    private var guesses: [Int] = []
    /// The row, counted from 1, in which each of `names` was last seen.
    private var seen: [Int]
    private var row = 0
    private var extra: [UInt8] = []
    /// A buffer for the texts of a row whose escapes must be decoded, and the number of bytes in use.
    private let decoded: UnsafeMutableBufferPointer<UInt8>
    private var decodedCount = 0

    /// - Parameters:
    ///   - bytes: the page's bytes, which must not move until the statement is reset.
    ///   - tokens: the page's tokens.
    ///   - decoded: a buffer as large as the longest row, which must not move either.
    init(
        _ table: RecordTable, _ statement: SQLiteStatement, _ page: RowPage, bytes: UnsafeBufferPointer<UInt8>,
        tokens: UnsafeBufferPointer<JSONTape.Token>, decoded: UnsafeMutableBufferPointer<UInt8>
    ) {
        self.table = table
        self.statement = statement
        self.page = page
        self.bytes = bytes
        self.tokens = tokens
        self.decoded = decoded
        names = RecordMemberNames(table.schema)
        seen = Array(repeating: 0, count: names.count)
    }

    /// Puts the row whose object is at that index of the tape.
    ///
    /// - Parameter members: an object whose members replace the row's own.
    mutating func put(_ object: Int, with members: JSON?) throws {
        row += 1
        extra.removeAll(keepingCapacity: true)
        decodedCount = 0
        if let members { try members.forEachMember { try bind($0, $1) } }
        var index = object + 1
        let end = Int(tokens[object].next)
        var position = 0
        while index < end {
            let key = tokens[index]
            let name = find(key, at: position)
            if let members, name < 0 ? members[page.tape.text(key, in: bytes)] != nil : seen[name] == row {
                // Already bound.
            } else if name < 0 {
                keep(key, tokens[index + 1])
            } else {
                seen[name] = row
                if try !bind(name, index + 1) { keep(key, tokens[index + 1]) }
            }
            index = Int(tokens[index + 1].next)
            position += 1
        }
        try finish()
        try statement.run()
    }

    /// Returns the number of the key in `names`, or -1.
    private mutating func find(_ key: JSONTape.Token, at position: Int) -> Int {
        if key.flag { return names.find(page.tape.text(key, in: bytes)) }
        let key = UnsafeBufferPointer(rebasing: bytes[Int(key.start)..<Int(key.end)])
        if position < guesses.count {
            let guess = guesses[position]
            if names.isSame(guess, key) { return guess }
        } else {
            // A key with escapes left no guess.
            while guesses.count <= position { guesses.append(0) }
        }
        let name = names.find(key)
        if name >= 0 { guesses[position] = name }
        return name
    }

    /// Binds the value at an index of the tape, and returns whether its column returns it exactly.
    private mutating func bind(_ name: Int, _ index: Int) throws -> Bool {
        let token = tokens[index]
        let parameter = name + 1
        if name == 0 {
            guard token.kind == .string, token.end > token.start else {
                throw SluiceError(.invalidRecord, "a record has a string id that is not empty")
            }
            try bindText(parameter, token)
            return true
        }
        let type = names.type(name)
        switch (type, token.kind) {
        case (_, .null): try statement.bindNull(parameter)
        case (.string, .string), (.date, .string): try bindText(parameter, token)
        case (.boolean, .bool): try statement.bind(parameter, Int64(token.flag ? 1 : 0))
        case (.integer, .number), (.real, .number):
            switch JSON.Number(valid: source(token), hasFraction: token.flag).storage {
            case .int(let value) where type == .integer: try statement.bind(parameter, value)
            case .int(let value) where RecordColumns.exactIntegers.contains(value):
                try statement.bind(parameter, Double(value))
            case .double(let value) where type == .real && RecordColumns.wholeNumber(value) == nil:
                try statement.bind(parameter, value)
            default: return try bindDocument(parameter, index, type)
            }
        default: return try bindDocument(parameter, index, type)
        }
        return true
    }

    /// Binds a rare kind of value by way of a document, as `put(_:on:)` of a record does.
    private func bindDocument(_ parameter: Int, _ index: Int, _ type: TableSchema.ColumnType) throws -> Bool {
        let value = JSON(page.tape, at: index, in: bytes)
        try statement.bind(parameter, SQLValue(value, declared: type))
        return RecordColumns.isExact(value, type)
    }

    /// Binds a member that replaces the row's own, as a record's would be. The id stays the row's.
    private mutating func bind(_ key: UnsafeBufferPointer<UInt8>, _ value: JSON) throws {
        let name = names.find(key)
        if name == 0 { return }
        if name > 0 {
            seen[name] = row
            let type = names.type(name)
            if type == .integer, case .int(let int)? = value.number?.storage {
                try statement.bind(name + 1, int)
                return
            }
            try statement.bind(name + 1, SQLValue(value, declared: type))
            if RecordColumns.isExact(value, type) { return }
        }
        extra.append(UInt8(ascii: extra.isEmpty ? "{" : ","))
        JSONEscape.append(key, to: &extra)
        extra.append(UInt8(ascii: ":"))
        extra.append(contentsOf: value.bytes())
    }

    /// Binds a text without copying it: in the page, or in the buffer with its escapes decoded.
    @inline(__always)
    private mutating func bindText(_ parameter: Int, _ token: JSONTape.Token) throws {
        var text = source(token)
        if token.flag {
            let room = UnsafeMutableBufferPointer(rebasing: decoded[decodedCount...])
            let count = JSONEscape.decode(text, into: room)
            decodedCount += count
            text = UnsafeBufferPointer(rebasing: room[..<count])
        }
        try statement.check(statement.bindText(parameter, text, copied: false))
    }

    /// Returns the token's bytes, as they stand in the page.
    @inline(__always)
    private func source(_ token: JSONTape.Token) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
    }

    /// Adds a member to the object of properties without a column, as it stands in the page.
    private mutating func keep(_ key: JSONTape.Token, _ value: JSONTape.Token) {
        extra.append(UInt8(ascii: extra.isEmpty ? "{" : ","))
        extra.append(UInt8(ascii: "\""))
        extra.append(contentsOf: source(key))
        extra.append(UInt8(ascii: "\""))
        extra.append(UInt8(ascii: ":"))
        let quote = value.kind == .string ? 1 : 0
        extra.append(contentsOf: bytes[Int(value.start) - quote..<Int(value.end) + quote])
    }

    /// Binds the parameters that the row's members have not bound.
    private mutating func finish() throws {
        if seen[0] != row { throw SluiceError(.invalidRecord, "a record has a string id that is not empty") }
        var absent: [JSON] = []
        for name in 1..<names.count where seen[name] != row {
            try statement.bindNull(name + 1)
            absent.append(JSON(table.schema.columns[name - 1].name))
        }
        if extra.isEmpty {
            try statement.bindNull(table.extraParameter)
        } else {
            extra.append(UInt8(ascii: "}"))
            try statement.check(
                extra.withUnsafeBufferPointer { statement.bindText(table.extraParameter, $0, copied: true) })
        }
        if absent.isEmpty {
            try statement.bindNull(table.absentParameter)
        } else {
            try statement.bind(table.absentParameter, JSON(absent).description)
        }
    }
}

extension RecordTable {
    /// Walks over the records that match the filter, in the binary order of their ids, without holding more than one.
    /// `body` gets a statement with the id and then `columns`, in their stored form.
    package func scan(
        _ columns: [PropertyName], matching filter: QueryExpression?, on connection: SQLiteConnection,
        _ body: (SQLiteStatement) throws -> Void
    ) throws {
        let names = (["id"] + columns).map { SQLDialect.sqlite.quoted($0.text) }.joined(separator: ", ")
        var sql = SQLText("SELECT \(names) FROM \(quotedStorage)")
        sql.append(try condition(TableQuery(schema.name, filter: filter)))
        sql.append(" ORDER BY \"id\"")
        let statement = try connection.statement(sql.text)
        defer { statement.reset() }
        try statement.bind(sql.values)
        while try statement.step() { try body(statement) }
    }
}
