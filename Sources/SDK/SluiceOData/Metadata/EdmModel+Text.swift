internal import SluiceBase

extension EdmModel {
    /// The model as readable text: each set with its key, properties and navigation.
    public var text: String {
        var lines = ["\(version.rawValue), \(sets.count.counted("set"))"]
        for set in sets {
            lines.append("")
            lines.append("\(set.name)  \(set.type)\(set.isSingleton ? "  a single entity" : "")")
            guard let type = try? whole(set.type) else {
                lines.append("  its type is not described")
                continue
            }
            for property in type.properties {
                let isKey = type.key.contains(property.name)
                let marks = property.annotations.compactMap(\.mark)
                lines.append(
                    "  \(isKey ? "key" : "   ")  \(property.name.text): \(Self.text(of: property))"
                        + (marks.isEmpty ? "" : "  \(marks.joined(separator: ", "))"))
            }
            for navigation in type.navigation {
                let target = set.bindings[navigation.name.text] ?? navigation.target
                lines.append("  to   \(navigation.name.text): \(navigation.isCollection ? "many " : "")\(target)")
            }
            do throws(SluiceError) {
                _ = try entitySet(set.name)
            } catch {
                lines.append("  cannot be synced: \(error.message)")
            }
        }
        if !operations.isEmpty {
            lines += ["", "operations: \(operations.joined(separator: ", "))"]
        }
        return lines.joined(separator: "\n")
    }

    private static func text(of property: Property) -> String {
        var text = property.type.hasPrefix("Edm.") ? String(property.type.dropFirst(4)) : property.type
        if let length = property.maxLength { text += "(\(length))" }
        if let precision = property.precision { text += "(\(precision)\(property.scale.map { ",\($0)" } ?? ""))" }
        return property.isNullable ? text + "?" : text
    }
}

extension EdmModel.Annotation {
    /// The annotation's text if it matters to people: a mark that is set, or one of SAP's that is not the default.
    fileprivate var mark: String? {
        let name = term.split { $0 == "." || $0 == ":" }.last.map(String.init) ?? term
        switch value {
        case JSON(true), JSON("true"): return name
        case JSON(false), JSON("false"): return "not \(name)"
        default: return nil
        }
    }
}
