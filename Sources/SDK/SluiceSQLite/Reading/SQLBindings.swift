internal import CSQLite
internal import SluiceCore

/// The values for a statement's parameters.
enum SQLBindings: Sendable {
    /// One for each parameter, in order.
    case positional([JSON])
    /// By the parameters' names, without the character that they begin with.
    case named([String: JSON])

    /// Binds the values.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` unless there is a value for each parameter and a parameter
    ///   for each value.
    func bind(to statement: SQLiteStatement) throws(SluiceError) {
        let count = statement.parameterCount
        switch self {
        case .positional(let values):
            guard values.count == count else {
                throw SluiceError(
                    .invalidArgument,
                    "the statement has \(count.counted("parameter")), and \(values.count.counted("value")) came with it"
                )
            }
            for (index, value) in values.enumerated() { try statement.bind(index + 1, Self.value(value)) }
        case .named(let values):
            var left = Set(values.keys)
            for index in 0..<count {
                guard let name = statement.parameterName(index + 1) else {
                    throw SluiceError(
                        .invalidArgument, "parameter \(index + 1) of the statement has no name, and the values have")
                }
                guard let value = values[name] else {
                    throw SluiceError(.invalidArgument, "the statement's parameter \(name) has no value")
                }
                left.remove(name)
                try statement.bind(index + 1, Self.value(value))
            }
            if let unknown = left.min() {
                throw SluiceError(.invalidArgument, "the statement has no parameter \(unknown)")
            }
        }
    }

    /// Returns the value in SQL: 0 or 1 for a boolean, JSON text for an array or an object, the nearest double for a
    /// number that is no exact integer or double.
    private static func value(_ json: JSON) -> SQLValue {
        switch json.kind {
        case .null: return .null
        case .bool: return .integer(json.bool == true ? 1 : 0)
        case .number:
            if let int = json.int { return .integer(int) }
            return json.double.map { .real($0) } ?? .null
        case .string: return .text(json.string ?? "")
        case .array, .object: return .text(json.description)
        }
    }
}

extension SQLiteStatement {
    /// Whether the statement changes no database.
    var isReadOnly: Bool { api.pointee.stmt_readonly(handle) != 0 }

    /// The number of parameters: the largest number of one.
    var parameterCount: Int { Int(api.pointee.bind_parameter_count(handle)) }

    /// Returns the parameter's name without its first character (`:`, `@` or `$`); nil for one without a name.
    func parameterName(_ index: Int) -> String? {
        guard let name = api.pointee.bind_parameter_name(handle, Int32(truncatingIfNeeded: index)) else { return nil }
        // `?5` is a number and not a name.
        return name.pointee == CChar(UInt8(ascii: "?")) ? nil : String(cString: name + 1)
    }

    /// Returns the source table and column of the values; nil for an expression, and if the library does not report it.
    func columnOrigin(_ index: Int) -> (table: String, column: String)? {
        let index = Int32(truncatingIfNeeded: index)
        guard let tableName = api.pointee.column_table_name, let originName = api.pointee.column_origin_name,
            let table = tableName(handle, index), let column = originName(handle, index)
        else { return nil }
        return (String(cString: table), String(cString: column))
    }

    /// Returns the type in the declaration of the source column; nil for an expression.
    func declaredType(_ index: Int) -> String? {
        api.pointee.column_decltype(handle, Int32(truncatingIfNeeded: index)).map { String(cString: $0) }
    }

    /// Returns the size of the text or the blob in bytes.
    func byteCount(_ index: Int) -> Int { Int(api.pointee.column_bytes(handle, Int32(truncatingIfNeeded: index))) }
}

extension SQLiteConnection {
    /// Prepares a statement that is not cached, the only one of its text.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` if more follows than spaces and comments.
    func prepareOne(_ text: String) throws(SluiceError) -> SQLiteStatement {
        // Includes the terminating NUL.
        let bytes = Array(text.utf8CString)
        var prepared: OpaquePointer?
        var length = 0
        let code = bytes.withUnsafeBufferPointer { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return Int32(CSQLITE_MISUSE) }
            var tail: UnsafePointer<CChar>?
            let code = api.pointee.prepare_v3(handle, base, Int32(clamping: buffer.count), 0, &prepared, &tail)
            length = tail.map { $0 - base } ?? 0
            return code
        }
        guard code == Int32(CSQLITE_OK) else { throw database.failure() }
        guard let prepared else { throw SluiceError(.invalidQuery, "the statement is empty") }
        let statement = SQLiteStatement(handle: prepared, database: database)
        guard SQLStatementText.isBlank(Array(text.utf8)[length...]) else {
            throw SluiceError(.invalidQuery, "only one statement is allowed; text follows the end of the first")
        }
        return statement
    }
}
