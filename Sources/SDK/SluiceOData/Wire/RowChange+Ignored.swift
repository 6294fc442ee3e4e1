internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Refuses changes that a service would ignore: answered with 204, they would count as done.
extension RowChange {
    /// Refuses a new row with properties that only the service sets; nil if it has none.
    func refusal(ofNew record: JSON) -> SyncResponse? {
        let brought = record.names.filter { set.notCreatable.contains(set.property(of: $0)) && record[$0] != .null }
        return brought.isEmpty ? nil : Self.refusal(brought, "is set by the service alone: make the row without it")
    }

    /// Refuses a change of properties that no update changes; nil if they have the row's values, as in a record that is
    /// sent whole.
    func refusal(ofChanges record: JSON, _ key: EntityKey) async throws -> SyncResponse? {
        let moved = zip(set.key, key.values).filter { property, held in
            let column = set.column(of: property.name)
            guard column != "id", let value = record[column], !value.isNull else { return false }
            let plain = EdmValue.plain(value, type: property.type, version: exchange.version)
            return !(plain?.hasSameBytes(as: held) ?? false)
        }
        guard moved.isEmpty else {
            return Self.refusal(
                moved.map { set.column(of: $0.0.name) },
                "is of the row's key, which no update changes: delete the row and make another")
        }
        // A replacement has null for omitted properties, and offline it is an update with nulls.
        let named = record.names.filter { set.notUpdatable.contains(set.property(of: $0)) && record[$0] != .null }
        if named.isEmpty { return nil }
        let response = try await exchange.send(exchange.request(.get, exchange.path(of: key, in: set), for: request))
        guard response.status == 200, let entity = try SetPage.entity(in: response, of: set),
            let there = form.record(of: entity, tag: response.head.headerFields[.eTag])
        else { return response.status == 200 ? nil : response }
        // If the row has changed since, the service itself reports the conflict.
        let version = there["__version"]?.string ?? ""
        if let tag = request.head.headerFields[.ifMatch], tag != "*", !Self.isSame(tag, version) { return nil }
        let changed = named.filter { (record[$0] ?? .null) != (there[$0] ?? .null) }
        return changed.isEmpty
            ? nil : Self.refusal(changed, "is changed by no update of the service: take the change of it back")
    }

    private static func refusal(_ columns: [PropertyName], _ reason: String) -> SyncResponse {
        ODataTransport.refusal(422, "\(columns.map(\.text).joined(separator: ", ")) \(reason)")
    }
}
