internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The names of the members that have a column: `id`, then the declared ones. They are numbered from 0.
///
/// The names stand in one piece of memory, so that comparing one counts no references.
struct RecordMemberNames {
    private struct Name {
        var start: Int
        var count: Int
        var type: TableSchema.ColumnType
    }

    private let names: [Name]
    private let text: [UInt8]

    init(_ schema: TableSchema) {
        var names = [Name(start: 0, count: 2, type: .string)]
        var text = Array("id".utf8)
        for column in schema.columns {
            names.append(Name(start: text.count, count: column.name.text.utf8.count, type: column.type))
            text += column.name.text.utf8
        }
        self.names = names
        self.text = text
    }

    var count: Int { names.count }

    /// The type of the column; `string` for `id`.
    @inline(__always)
    func type(_ name: Int) -> TableSchema.ColumnType { names[name].type }

    /// Returns the number of the name, or -1.
    func find(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        for name in names.indices where isSame(name, key) { return name }
        return -1
    }

    /// Returns the number of the name, or -1.
    func find(_ key: String) -> Int {
        var key = key
        return key.withUTF8 { find($0) }
    }

    @inline(__always)
    func isSame(_ name: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = names[name]
        guard name.count == key.count, let start = key.baseAddress else { return name.count == key.count }
        return text.withUnsafeBufferPointer { text in
            text.baseAddress.map { memcmp($0 + name.start, start, name.count) == 0 } ?? true
        }
    }
}
