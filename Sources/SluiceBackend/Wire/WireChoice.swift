internal import HTTPTypes
internal import SluiceCore

extension ServerWire {
    /// The wire that a request speaks. `ZUMO-API-VERSION`, in the query or else in a header, says 2.0 or 3.0; without
    /// it an application's key (`X-ZUMO-APPLICATION`) marks Mobile Services, and a request with neither is Datasync's.
    ///
    /// - Throws: ``Refusal`` (400) for another version.
    static func of(_ head: HTTPRequest, _ target: RequestTarget) throws -> ServerWire {
        let field = HTTPField.Name("ZUMO-API-VERSION").flatMap { head.headerFields[$0] }
        guard let version = target.values("zumo-api-version").first ?? field else {
            let key = HTTPField.Name("X-ZUMO-APPLICATION").flatMap { head.headerFields[$0] }
            return key == nil ? datasync : azureV1
        }
        switch version {
        case let text where isVersion(text, "2.0."): return azureV2
        case let text where isVersion(text, "3.0."): return azureV3
        default:
            throw Refusal(
                .badRequest,
                "An invalid API version was specified in the request, this request needs to specify a "
                    + "ZUMO-API-VERSION of 2.0.0 or 3.0.0.")
        }
    }

    private static func isVersion(_ text: String, _ prefix: String) -> Bool {
        let last = text.dropFirst(prefix.count)
        return text.hasPrefix(prefix) && !last.isEmpty && last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
