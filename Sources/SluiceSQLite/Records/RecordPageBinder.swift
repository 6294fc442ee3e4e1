internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Binds rows of a page to a table's upsert statement, value by value, without a document between.
struct RecordPageBinder {
    private let table: RecordTable
    private let statement: SQLiteStatement
    private let tape: JSONTape
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The names of the statement's parameters but for the last two: `id`, then the columns.
    private let names: [[UInt8]]
    private let types: [TableSchema.ColumnType]
    /// For each position in a row, which of `names` stood there last: rows of one server are alike.
    private var guesses: [Int] = []
    /// The row, counted from 1, in which each of `names` was last seen.
    private var seen: [Int]
    private var row = 0
    private var extra: [UInt8] = []

    init(
        _ table: RecordTable, _ statement: SQLiteStatement, _ tape: JSONTape, _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        self.table = table
        self.statement = statement
        self.tape = tape
        self.bytes = bytes
        names = [Array("id".utf8)] + table.schema.columns.map { Array($0.name.utf8) }
        types = table.schema.columns.map(\.type)
        seen = Array(repeating: 0, count: names.count)
    }

    /// Puts the row whose object is at that index of the tape.
    mutating func put(_ object: Int) throws {
        row += 1
        extra.removeAll(keepingCapacity: true)
        var index = object + 1
        let end = Int(tape.tokens[object].next)
        var position = 0
        while index < end {
            let key = tape.tokens[index]
            let name = find(key, at: position)
            if name < 0 {
                keep(key, tape.tokens[index + 1])
            } else {
                seen[name] = row
                if try !bind(name, index + 1) { keep(key, tape.tokens[index + 1]) }
            }
            index = Int(tape.tokens[index + 1].next)
            position += 1
        }
        try finish()
        try statement.run()
    }

    /// Which of `names` a key is, or -1.
    private mutating func find(_ key: JSONTape.Token, at position: Int) -> Int {
        if key.flag {
            let text = Array(tape.text(key, in: bytes).utf8)
            return names.firstIndex(of: text) ?? -1
        }
        if position < guesses.count {
            let guess = guesses[position]
            if isSame(key, guess) { return guess }
        } else {
            // A key with escapes has left no guess behind.
            while guesses.count <= position { guesses.append(0) }
        }
        for name in names.indices where isSame(key, name) {
            guesses[position] = name
            return name
        }
        return -1
    }

    @inline(__always)
    private func isSame(_ key: JSONTape.Token, _ name: Int) -> Bool {
        let count = Int(key.end - key.start)
        guard names[name].count == count, let base = bytes.baseAddress else { return false }
        return names[name].withUnsafeBufferPointer { other in
            other.baseAddress.map { memcmp($0, base + Int(key.start), count) == 0 } ?? false
        }
    }

    /// Binds the value at an index of the tape, and says whether its column gives it back exactly.
    private func bind(_ name: Int, _ index: Int) throws -> Bool {
        let token = tape.tokens[index]
        let parameter = name + 1
        if name == 0 {
            guard token.kind == .string, token.end > token.start else {
                throw SluiceError(.invalidRecord, "a record has a string id that is not empty")
            }
            try bindText(parameter, token)
            return true
        }
        let type = types[name - 1]
        switch (type, token.kind) {
        case (_, .null): try statement.bindNull(parameter)
        case (.string, .string), (.date, .string): try bindText(parameter, token)
        case (.boolean, .bool): try statement.bind(parameter, Int64(token.flag ? 1 : 0))
        case (.integer, .number), (.real, .number):
            switch JSONNumber(valid: tape.bytes(token, in: bytes), hasFraction: token.flag).storage {
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

    /// Binds a value that is worth no way of its own, as a record's would be.
    private func bindDocument(_ parameter: Int, _ index: Int, _ type: TableSchema.ColumnType) throws -> Bool {
        let value = JSON(tape, at: index, in: bytes)
        try statement.bind(parameter, SQLValue(value, declared: type))
        return RecordColumns.isExact(value, type)
    }

    @inline(__always)
    private func bindText(_ parameter: Int, _ token: JSONTape.Token) throws {
        if token.flag {
            try statement.bind(parameter, tape.text(token, in: bytes))
        } else {
            try statement.check(statement.bindText(parameter, tape.bytes(token, in: bytes), copied: false))
        }
    }

    /// Adds a member to the object of what has no column, as it stands in the page.
    private mutating func keep(_ key: JSONTape.Token, _ value: JSONTape.Token) {
        extra.append(UInt8(ascii: extra.isEmpty ? "{" : ","))
        extra.append(UInt8(ascii: "\""))
        extra.append(contentsOf: tape.bytes(key, in: bytes))
        extra.append(UInt8(ascii: "\""))
        extra.append(UInt8(ascii: ":"))
        let quote = value.kind == .string ? 1 : 0
        extra.append(contentsOf: bytes[Int(value.start) - quote..<Int(value.end) + quote])
    }

    /// Binds what the members of the row have left open.
    private mutating func finish() throws {
        if seen[0] != row { throw SluiceError(.invalidRecord, "a record has a string id that is not empty") }
        var absent: [JSON] = []
        for name in names.indices.dropFirst() where seen[name] != row {
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
