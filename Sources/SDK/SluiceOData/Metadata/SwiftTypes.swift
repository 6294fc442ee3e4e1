internal import SluiceBase

extension EdmModel {
    /// Swift types of the sets' rows, for typed tables and `#Predicate`: a file to add to a program.
    ///
    /// Names follow Swift's habits (`SalesOrder` becomes `salesOrder`) and keep the service's in the coding keys.
    /// Decimals are doubles only in queries; here they are `Decimal`, which keeps their digits.
    public var swift: String {
        var names: Set<String> = []
        let structures = sets.compactMap { set -> String? in
            guard let entitySet = try? entitySet(set.name), let type = try? whole(set.type) else { return nil }
            let name = Self.unused(Self.identifier(set.name, isType: true), among: &names)
            return structure(name, set, type, entitySet)
        }
        return "import Foundation\nimport Sluice\n\n" + structures.joined(separator: "\n") + "\n"
    }

    private func structure(_ name: String, _ set: Container, _ type: Structure, _ entitySet: EntitySet) -> String {
        var used: Set<String> = ["id", "version", "updatedAt"]
        var members: [(name: String, column: String, type: String)] = []
        for property in type.properties where property.name.text.lowercased() != "id" {
            guard let swift = swiftType(of: property) else { continue }
            let member = Self.unused(Self.identifier(property.name.text, isType: false), among: &used)
            members.append((member, property.name.text, swift))
        }
        var lines = [
            "/// A row of \(set.name). Its id is \(entitySet.key.map(\.name.text).joined(separator: ", ")).",
            "struct \(name): SyncRecord {",
            "    static let tableName = \(Self.literal(set.name))",
            "    var id: String?",
        ]
        lines += members.map { "    var \($0.name): \($0.type)?" }
        lines += [
            "    var version: String?", "", "    enum CodingKeys: String, CodingKey {", "        case id, version",
        ]
        lines += members.map { "        case \($0.name) = \(Self.literal($0.column))" }
        lines += ["    }", "}", ""]
        return lines.joined(separator: "\n")
    }

    /// Returns the Swift type of a property; nil if no property of a record can have it.
    private func swiftType(of property: Property) -> String? {
        if property.type.hasPrefix("Collection(") { return nil }
        if enumerations.contains(where: { $0.name == property.type }) { return "String" }
        switch primitive(property) {
        case .boolean: return "Bool"
        case .byte, .sbyte, .int16, .int32, .int64: return "Int64"
        case .single, .double: return "Double"
        case .decimal: return "Decimal"
        case .dateTime, .dateTimeOffset: return "Timestamp"
        case .stream: return nil
        case .geographyPoint, .geometryPoint, nil: return "JSON"
        default: return "String"
        }
    }

    // MARK: Names

    private static let keywords: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else",
        "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "init",
        "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat",
        "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
        "try",
        "typealias", "var", "where", "while",
    ]

    /// Returns a Swift name for one of the service: its parts joined in camel case, for a member beginning with a small
    /// letter.
    static func identifier(_ text: String, isType: Bool) -> String {
        let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
        var name = words.enumerated().map { index, word in
            index == 0 && !isType ? lowered(word) : word.prefix(1).uppercased() + word.dropFirst()
        }.joined()
        if name.first?.isNumber ?? true { name = (isType ? "Row" : "value") + name }
        return name
    }

    /// Returns the part with its first capitals small: `SalesOrder` is `salesOrder`, `URLPath` is `urlPath`, `ID` is
    /// `id`.
    private static func lowered(_ word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }
        if capitals.count <= 1 || capitals.count == word.count {
            return capitals.lowercased() + word.dropFirst(capitals.count)
        }
        let count = word[capitals.endIndex].isLetter ? capitals.count - 1 : capitals.count
        return word.prefix(count).lowercased() + word.dropFirst(count)
    }

    private static func unused(_ name: String, among used: inout Set<String>) -> String {
        var found = name
        var number = 2
        while used.contains(found) {
            found = "\(name)\(number)"
            number += 1
        }
        used.insert(found)
        return keywords.contains(found) ? "`\(found)`" : found
    }

    /// Returns a text as a Swift literal.
    private static func literal(_ text: String) -> String {
        let inner = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 32 || scalar.value == 127: "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }
        return "\"\(inner.joined())\""
    }
}
