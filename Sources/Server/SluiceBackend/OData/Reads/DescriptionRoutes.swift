internal import HTTPTypes
internal import SluiceCore

/// Answers requests for the service document and `$metadata`.
struct DescriptionRoutes: Sendable {
    let call: ServiceCall
    let operations: [ODataOperation]

    /// Checks that the user may use the service, because the names of tables and properties are not public.
    ///
    /// - Throws: ``Refusal`` (401) without a user, if every table and operation needs one.
    func check() async throws {
        let principal = try await call.served.authenticator?.principal(for: call.head.headerFields)
        let levels = call.model.sets.flatMap { set in BackendOperation.allCases.map { set.table.rules.access[$0] } }
        guard principal == nil, !(levels + operations.map(\.access)).contains(.anonymous) else { return }
        var refusal = Refusal(.unauthorized, "the service needs a user; send a token")
        refusal.headers[.wwwAuthenticate] = "Bearer"
        throw refusal
    }

    func metadata() throws -> ODataReply {
        if call.version == .v2 {
            return ODataReply(
                .ok, .text(call.model.edmx(operations: operations)), type: "application/xml;charset=utf-8")
        }
        // Clients that accept JSON everywhere still expect XML here; only an explicit request for JSON gets it.
        let format = try call.format(.xml, .json)
        if format.media == .json {
            return ODataReply(.ok, .json(call.model.csdlJSON(operations: operations)), type: "application/json")
        }
        return ODataReply(
            .ok, .text(call.model.csdl(version: call.version, operations: operations)), type: "application/xml")
    }

    func document() throws -> ODataReply {
        guard call.version == .v2 else {
            let format = try call.format(.json)
            var members = RowsV4(call, format).contextMember("")
            if let context = members.first?.1.string {
                members = [("@odata.context", JSON(String(context.dropLast())))]
            }
            var entries = call.model.sets.map { set -> JSON in
                ["name": JSON(set.name), "kind": "EntitySet", "url": JSON(PercentEncoding.segment(set.name))]
            }
            for operation in operations where operation.isFunction && operation.parameters.isEmpty {
                entries.append(
                    ["name": JSON(operation.name), "kind": "FunctionImport", "url": JSON("\(operation.name)()")])
            }
            members.append(("value", JSON(entries)))
            return ODataReply(.ok, .json(JSON(members: members)), type: format.type(call.version))
        }
        let format = try call.format(.json, .xml, .atom)
        if format.media == .json {
            return ODataReply(
                .ok, .json(["d": ["EntitySets": JSON(call.model.sets.map { JSON($0.name) })]]),
                type: "application/json")
        }
        var xml = XMLWriter()
        xml.element(
            "service",
            [
                "xml:base": call.root, "xmlns": "http://www.w3.org/2007/app",
                "xmlns:atom": "http://www.w3.org/2005/Atom",
            ]
        ) { xml in
            xml.element("workspace") { xml in
                xml.element("atom:title", text: "Default")
                for set in call.model.sets {
                    xml.element("collection", ["href": PercentEncoding.segment(set.name)]) {
                        $0.element("atom:title", text: set.name)
                    }
                }
            }
        }
        return ODataReply(.ok, .text(xml.text), type: "application/atomsvc+xml;charset=utf-8")
    }
}
