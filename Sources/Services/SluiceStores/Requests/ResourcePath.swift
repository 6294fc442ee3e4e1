public import SluiceBase

/// The path of an OData address below the service's root: `Customers('1')/Orders`, `Customers/$count`,
/// `Longest(count=5)`.
///
/// The path is read by the grammar of URLs and keys, not split at characters: a key may hold parentheses, slashes,
/// question marks, quotes (doubled) and percent escapes. The meaning of a segment is known only together with the
/// tables' schemas. (OData v4.01 part 2, 4; OData v2 URI conventions, 2.)
public struct ResourcePath: Sendable, Hashable {
    /// A part between two slashes.
    public struct Segment: Sendable, Hashable {
        /// The name, decoded; `$count`, `$value`, `$ref` and `$links` are names too.
        public var name: String
        /// The content of the parentheses after the name: a key, or the arguments of a function. Nil without
        /// parentheses.
        public var arguments: [TableQuery.Argument]?

        /// Creates a segment.
        public init(_ name: String, arguments: [TableQuery.Argument]? = nil) {
            self.name = name
            self.arguments = arguments
        }

        /// Creates the segment of one record.
        public init(_ name: String, key: RecordID) {
            self.init(name, arguments: [TableQuery.Argument(nil, .literal(.id(key)))])
        }

        /// The record's id, if the arguments are a key.
        ///
        /// A key of one property is the property's plain text. A key of several is the text between the parentheses in
        /// v4's literals, in the written order; it must be the order of the service's description.
        public var recordID: RecordID? {
            guard let arguments, !arguments.isEmpty else { return nil }
            if arguments.count == 1 { return arguments[0].value.plainText.map { .string($0) } }
            var parts: [String] = []
            for argument in arguments {
                guard let name = argument.name, case .literal = argument.value else { return nil }
                parts.append("\(name)=\(argument.value.odata(.v4))")
            }
            return .string(parts.joined(separator: ","))
        }
    }

    /// The segments, one or more.
    public var segments: [Segment]

    /// Creates the path of a table.
    public init(_ table: String) { segments = [Segment(table)] }

    /// Creates the path of one record.
    public init(_ table: String, key: some RecordIDConvertible) { segments = [Segment(table, key: key.recordID)] }

    /// Creates the path through those segments.
    public init(segments: [Segment]) { self.segments = segments }

    /// The length of the longest path that is read, in bytes.
    static let maximumLength = 16_384
    /// The largest number of segments that are read.
    static let maximumSegments = 20
}

extension QueryExpression {
    /// A constant of a key as plain text; nil for any other expression.
    fileprivate var plainText: String? {
        guard case .literal(let literal) = self else { return nil }
        return switch literal {
        case .string(let text), .guid(let text): text
        case .number(let number): number.description
        case .bool(let value): value ? "true" : "false"
        case .null: nil
        default: odata(.v4)
        }
    }
}
