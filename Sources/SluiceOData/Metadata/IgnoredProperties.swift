internal import SluiceBase

/// What a service says it leaves out of account in changes: properties that only it sets, or that are set once.
extension EdmModel.Property {
    /// A kind of change.
    enum Change {
        case creation
        case update

        /// The attribute of SAP's services that says whether a change of the kind may set a property.
        fileprivate var mark: String { self == .creation ? "creatable" : "updatable" }
    }

    /// Whether the service ignores the property's value in such a change (SAP's `sap:creatable` and `sap:updatable`; OData
    /// Core's Computed, Immutable and Permissions; SAP Common's FieldControl).
    func isIgnored(in change: Change) -> Bool {
        if annotations.has("Computed") || annotations[change.mark] == JSON("false") { return true }
        if change == .update, annotations.has("Immutable") { return true }
        return ["Permissions", "FieldControl"].contains { term in
            let member = annotations[term]?.string?.split(separator: "/").last
            return member == "Read" || member == "ReadOnly"
        }
    }
}

extension EdmModel.Structure {
    /// The properties whose values the service ignores in such a change. Where that is said of all, as tools of SAP write it
    /// unless they are told otherwise, it says nothing.
    func ignored(in change: EdmModel.Property.Change) -> Set<PropertyName> {
        let ignored = properties.filter { $0.isIgnored(in: change) }.map(\.name)
        return ignored.count == properties.count && properties.count > key.count ? [] : Set(ignored)
    }
}

extension EdmModel.Container {
    /// The properties that no creation sets (OData Capabilities, InsertRestrictions).
    var withheldFromCreations: Set<PropertyName> { names("InsertRestrictions", "NonInsertableProperties") }

    /// The properties that no update sets (OData Capabilities, UpdateRestrictions).
    var withheldFromUpdates: Set<PropertyName> { names("UpdateRestrictions", "NonUpdatableProperties") }

    private func names(_ term: String, _ list: String) -> Set<PropertyName> {
        Set((annotations[term]?[PropertyName(list)]?.elements ?? []).compactMap { $0.string.map { PropertyName($0) } })
    }
}
