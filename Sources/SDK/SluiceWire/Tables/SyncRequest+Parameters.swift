internal import HTTPTypes
public import SluiceBase

extension SyncRequest {
    /// Further parameters of a request's query, for a server's scripts.
    ///
    /// ```swift
    /// // …?source=import&tag=new&tag=vip
    /// try await people.insert(ada, parameters: ["source": "import", "tag": ["new", "vip"]])
    /// ```
    ///
    /// An array repeats the name. Names that begin with `$` belong to the protocol, and are refused when the request is
    /// made.
    public struct Parameters: Sendable, Hashable {
        /// The parameters in order.
        public var list: [TableQuery.Parameter]
        /// The first name whose value is no text, number, truth value, or array of such.
        private var unfit: String?

        /// A list of parameters.
        public init(_ list: [TableQuery.Parameter] = []) { self.list = list }

        /// Adds a parameter for a text, a number, or a truth value, and one for each element of an array.
        public mutating func append(_ name: String, _ value: JSON) {
            for element in value.elements ?? [value] {
                switch element.kind {
                case .string: list.append(.init(name, element.string ?? ""))
                case .number, .bool: list.append(.init(name, element.description))
                case .null, .array, .object: unfit = unfit ?? name
                }
            }
        }

        /// Checks the caller's parameters.
        ///
        /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that is empty or begins with `$`, and for a value
        ///   that is null or an object.
        func validated(table: String?) throws(SluiceError) -> [TableQuery.Parameter] {
            if let unfit {
                throw SluiceError(
                    .invalidArgument, "the parameter '\(unfit)' is no text, number, truth value, or array of such",
                    table: table)
            }
            if let parameter = list.first(where: { $0.name.isEmpty || $0.name.hasPrefix("$") }) {
                throw SluiceError(
                    .invalidArgument,
                    "'\(parameter.name)' cannot be a parameter's name: a name is not empty and no $ begins it",
                    table: table)
            }
            return list
        }
    }
}

extension SyncRequest.Parameters: ExpressibleByDictionaryLiteral {
    /// Parameters in the order written; an array repeats its name.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }
}

extension SyncRequest {
    /// Appends parameters to the request's query.
    mutating func append(_ parameters: [TableQuery.Parameter]) {
        guard !parameters.isEmpty, let path = head.path else { return }
        let text = parameters.map { "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))" }
        let separator = path.contains("?") ? (path.hasSuffix("?") || path.hasSuffix("&") ? "" : "&") : "?"
        head.path = path + separator + text.joined(separator: "&")
    }
}
