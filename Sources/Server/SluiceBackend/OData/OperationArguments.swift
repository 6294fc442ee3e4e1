internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// The values of an operation's parameters in a call. A function has them in the parentheses of the address or in the
/// query, an action in the body; v2 always has them in the query.
struct OperationArguments {
    private(set) var values: [String: JSON] = [:]

    /// - Throws: ``Refusal`` (400) for a value of another type and for an unknown parameter.
    init(_ call: ServiceCall, _ operation: ODataOperation, inAddress inner: String?) throws {
        let version = call.version
        var literals: [(name: String, text: String)] = []
        if version == .v2 || inner == nil {
            for (name, value) in call.target.parameters where operation.parameters.contains(where: { $0.name == name })
            {
                literals.append((name, value))
            }
        }
        for argument in ODataList.split(inner ?? "", by: ",") where !argument.isEmpty {
            let sides = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { throw Refusal(.badRequest, "\(argument) is no name=value") }
            var text = sides[1]
            if text.hasPrefix("@") {
                // OData 4.01 URL Conventions, section 5.3: an alias.
                guard let value = call.target.values(text).first else {
                    throw Refusal(.badRequest, "the query gives no value for \(text)")
                }
                text = value
            }
            literals.append((sides[0], text))
        }
        for (name, text) in literals {
            let parameter = try Self.parameter(name, operation)
            values[name] = try Self.value(text, parameter, version)
        }
        guard !operation.isFunction, version != .v2, !call.request.body.isEmpty else { return }
        for (name, value) in try EntityBody.document(call).members ?? [] where !name.text.contains("@") {
            let parameter = try Self.parameter(name.text, operation)
            values[name.text] = try ValueForm.read(value, .init(parameter.type, name: parameter.name), version)
        }
    }

    private static func parameter(_ name: String, _ operation: ODataOperation) throws -> ODataOperation.Parameter {
        guard let parameter = operation.parameters.first(where: { $0.name == name }) else {
            let hint = NearestKey.suggestion(for: name, among: operation.parameters.map(\.name)) ?? ""
            throw Refusal(.badRequest, "\(operation.name) has no parameter \(name)\(hint)")
        }
        return parameter
    }

    /// Returns the value of a literal in an address.
    private static func value(
        _ text: String, _ parameter: ODataOperation.Parameter, _ version: ServiceVersion
    ) throws -> JSON {
        if text == "null" { return .null }
        let property = EntitySet.Property(parameter.type, name: parameter.name)
        let literal: QueryLiteral
        do {
            guard case .literal(let read) = try QueryExpression(odata: text) else {
                throw Refusal(.badRequest, "the parameter \(parameter.name) is a constant")
            }
            literal = read
        } catch let error as QuerySyntaxError {
            throw Refusal(.badRequest, "\(parameter.name): \(error)")
        }
        switch literal {
        case .null: return .null
        case .bool(let value): return try ValueForm.read(JSON(value), property, version)
        case .number(let number): return try ValueForm.read(JSON(number), property, version)
        case .string(let text): return try ValueForm.read(JSON(text), property, version)
        case .date(let time), .day(let time): return try ValueForm.read(JSON(time.description), property, .v401)
        case .guid(let text): return try ValueForm.read(JSON(text), property, version)
        default: throw Refusal(.badRequest, "the parameter \(parameter.name) is of another type")
        }
    }
}
