internal import FoundationXML
public import SluiceBase

#if canImport(FoundationEssentials)
    internal import Foundation
#endif

extension EdmModel {
    /// The largest document that is read, in bytes.
    static let mostBytes = 64 << 20

    /// Reads a `$metadata` document in XML or JSON.
    ///
    /// A document type declaration is refused, and so are entities of its own.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for any other document, with the reason and the line, and of
    ///   code `tooLarge` beyond 64 MiB.
    public init(document bytes: [UInt8]) throws(SluiceError) {
        guard bytes.count <= Self.mostBytes else {
            throw SluiceError(.tooLarge, "the metadata is larger than \(Self.mostBytes) bytes")
        }
        if bytes.first(where: { !" \t\r\n\u{FEFF}".utf8.contains($0) }) == UInt8(ascii: "{") {
            self = try MetadataJSON.model(of: bytes)
        } else {
            self = try MetadataXML.model(of: bytes)
        }
    }
}

/// Reads EDMX and CSDL XML, element by element, with the system's parser.
enum MetadataXML {
    private static let deepest = 64

    static func model(of bytes: [UInt8]) throws(SluiceError) -> EdmModel {
        // In an encoding that changes ASCII's letters the next check would miss the declaration.
        guard !bytes.prefix(64).contains(0), !bytes.starts(with: [0xFE, 0xFF]), !bytes.starts(with: [0xFF, 0xFE]) else {
            throw SluiceError(.brokenProtocol, "the metadata is not in UTF-8")
        }
        if declaresType(bytes) {
            throw SluiceError(.brokenProtocol, "the metadata has a document type declaration, which is not read")
        }
        let delegate = Delegate()
        guard let parser = ForeignXML.parser(bytes) else {
            throw SluiceError(.brokenProtocol, "the metadata is not in UTF-8")
        }
        parser.delegate = delegate
        let isWhole = parser.parse()
        if let problem = delegate.problem { throw SluiceError(.brokenProtocol, "the metadata \(problem)") }
        guard isWhole else {
            throw SluiceError(.brokenProtocol, "the metadata is no XML: see line \(parser.lineNumber)")
        }
        // The parser accepts the beginning of a document as a whole one.
        guard delegate.isWhole else {
            throw SluiceError(.brokenProtocol, "the metadata was cut short: see line \(parser.lineNumber)")
        }
        guard let model = delegate.builder.finished() else {
            throw SluiceError(.brokenProtocol, "the service's answer is XML, and no description of OData")
        }
        return model
    }

    /// Whether `<!DOCTYPE` or `<!ENTITY` occurs anywhere.
    private static func declaresType(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            var place = 0
            while place + 2 < buffer.count {
                if buffer[place] == 0x3C, buffer[place + 1] == 0x21,
                    buffer[place + 2] == UInt8(ascii: "D") || buffer[place + 2] == UInt8(ascii: "E")
                {
                    return true
                }
                place += 1
            }
            return false
        }
    }

    /// Passes the parser's elements to the builder, and stops at the first that is invalid in such a document.
    private final class Delegate: NSObject, XMLParserDelegate {
        var builder = MetadataBuilder()
        private(set) var problem: String?
        private var depth = 0
        /// Whether the outermost element was closed.
        private(set) var isWhole = false

        private func stop(_ parser: XMLParser, _ problem: String) {
            if self.problem == nil { self.problem = problem }
            parser.abortParsing()
        }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            depth += 1
            if depth > deepest { return stop(parser, "nests deeper than \(deepest) elements") }
            builder.begin(Self.local(name), attributes)
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            depth -= 1
            if depth == 0 { isWhole = true }
            builder.end(Self.local(name))
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) { builder.text(text) }

        func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) {
            stop(parser, "declares entities, which are not read")
        }

        func parser(
            _ parser: XMLParser, foundExternalEntityDeclarationWithName name: String, publicID: String?,
            systemID: String?
        ) {
            stop(parser, "declares entities, which are not read")
        }

        /// Returns the name without its prefix.
        private static func local(_ name: String) -> String {
            name.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(name[name.utf8.index(after: $0)...]) } ?? name
        }
    }
}

/// Reads CSDL JSON (OData CSDL JSON 4.01).
enum MetadataJSON {
    static func model(of bytes: [UInt8]) throws(SluiceError) -> EdmModel {
        let document: JSON
        do throws(JSON.ParseError) {
            document = try JSON(parsing: bytes)
        } catch {
            throw SluiceError(.brokenProtocol, "the metadata is no JSON", cause: error)
        }
        guard let version = document["$Version"]?.string, version.hasPrefix("4") else {
            throw SluiceError(.brokenProtocol, "the service's answer is JSON, and no description of OData")
        }
        var reader = Reader()
        let schemas = (document.members ?? []).filter { !$0.name.text.hasPrefix("$") && $0.value.kind == .object }
        for (namespace, schema) in schemas {
            if let alias = schema["$Alias"]?.string { reader.aliases[alias] = namespace.text }
        }
        for (namespace, schema) in schemas { reader.read(schema, namespace.text) }
        for (_, schema) in schemas { reader.annotate(schema["$Annotations"]) }
        return reader.model
    }

    private struct Reader {
        var model = EdmModel(version: .v4)
        var aliases: [String: String] = [:]

        private func resolved(_ name: String) -> String {
            guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), let whole = aliases[String(name[..<dot])] else {
                return name
            }
            return whole + name[dot...]
        }

        mutating func read(_ schema: JSON, _ namespace: String) {
            for (name, item) in schema.members ?? [] where !name.text.hasPrefix("$") && !name.text.contains("@") {
                let whole = "\(namespace).\(name.text)"
                switch item["$Kind"]?.string {
                case "EntityType", "ComplexType": model.structures.append(structure(whole, item))
                case "EnumType":
                    let members = item.names.map(\.text).filter { !$0.hasPrefix("$") && !$0.contains("@") }
                    model.enumerations.append(.init(name: whole, members: members))
                case "TypeDefinition": model.definitions[whole] = item["$UnderlyingType"]?.string ?? ""
                case "EntityContainer": readContainer(item)
                default: break
                }
            }
        }

        private func structure(_ name: String, _ item: JSON) -> EdmModel.Structure {
            var type = EdmModel.Structure(name, isEntity: item["$Kind"]?.string == "EntityType")
            type.base = item["$BaseType"]?.string.map(resolved)
            // A key may be renamed: {"alias": "path"}.
            type.key = (item["$Key"]?.elements ?? []).compactMap { part in
                (part.string ?? part.members?.first?.value.string).map { PropertyName($0) }
            }
            type.annotations = annotations(of: item, "")
            for (name, member) in item.members ?? [] where !name.text.hasPrefix("$") && !name.text.contains("@") {
                let written = resolved(member["$Type"]?.string ?? "Edm.String")
                let isCollection = member["$Collection"]?.bool ?? false
                if member["$Kind"]?.string == "NavigationProperty" {
                    var navigation = EdmModel.Navigation(name, to: written, isCollection: isCollection)
                    for (one, other) in member["$ReferentialConstraint"]?.members ?? [] {
                        guard let other = other.string, !one.text.contains("@") else { continue }
                        navigation.constraints.append(.init(property: one, referenced: PropertyName(other)))
                    }
                    navigation.annotations = annotations(of: member, "")
                    type.navigation.append(navigation)
                } else {
                    var property = EdmModel.Property(name, type: isCollection ? "Collection(\(written))" : written)
                    property.isNullable = member["$Nullable"]?.bool ?? false
                    property.maxLength = member["$MaxLength"]?.int.flatMap { Int(exactly: $0) }
                    property.precision = member["$Precision"]?.int.flatMap { Int(exactly: $0) }
                    property.scale = member["$Scale"]?.int.flatMap { Int(exactly: $0) }
                    property.annotations = annotations(of: member, "")
                    type.properties.append(property)
                }
            }
            return type
        }

        private mutating func readContainer(_ item: JSON) {
            for (name, member) in item.members ?? [] where !name.text.hasPrefix("$") && !name.text.contains("@") {
                if member["$Function"] != nil || member["$Action"] != nil {
                    model.operations.append(name.text)
                } else if let type = member["$Type"]?.string {
                    var set = EdmModel.Container(name.text, type: resolved(type))
                    set.isSingleton = !(member["$Collection"]?.bool ?? false)
                    for (path, target) in member["$NavigationPropertyBinding"]?.members ?? [] {
                        if let target = target.string { set.bindings[path.text] = target }
                    }
                    set.annotations = annotations(of: member, "")
                    model.sets.append(set)
                }
            }
        }

        private func annotations(of item: JSON, _ prefix: String) -> [EdmModel.Annotation] {
            (item.members ?? []).compactMap { name, value in
                guard name.text.hasPrefix("\(prefix)@"), !name.text.dropFirst(prefix.count + 1).contains("@") else {
                    return nil
                }
                return EdmModel.Annotation(String(name.text.dropFirst(prefix.count + 1)), value)
            }
        }

        mutating func annotate(_ targets: JSON?) {
            for (target, item) in targets?.members ?? [] {
                let parts = target.text.split(separator: "/", maxSplits: 1).map(String.init)
                guard let name = parts.first.map(resolved) else { continue }
                let found = annotations(of: item, "")
                if let index = model.structures.firstIndex(where: { $0.name == name }) {
                    if parts.count == 1 {
                        model.structures[index].annotations += found
                    } else if let place = model.structures[index].properties.firstIndex(where: {
                        $0.name.text == parts[1]
                    }) {
                        model.structures[index].properties[place].annotations += found
                    }
                } else if parts.count > 1, let index = model.sets.firstIndex(where: { $0.name == parts[1] }) {
                    model.sets[index].annotations += found
                }
            }
        }
    }
}
