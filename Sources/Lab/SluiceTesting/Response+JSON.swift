internal import HTTPTypes
public import SluiceCore

extension SyncResponse {
    /// Returns an answer with the text as its JSON body. Fields with a name that HTTP does not allow are left out.
    public static func json(_ status: Int, _ text: String, _ fields: [String: String] = [:]) -> SyncResponse {
        var head = HTTPResponse(status: .init(code: min(max(status, 0), 999)))
        head.headerFields[.contentType] = "application/json"
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { head.headerFields[name] = value }
        }
        return SyncResponse(head, body: MessageBody(bytes: Array(text.utf8)))
    }
}
