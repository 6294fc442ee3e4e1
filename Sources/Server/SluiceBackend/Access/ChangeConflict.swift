internal import HTTPTypes
internal import SluiceCore

/// A change based on another version than the server's: 409 or 412 with the server's record, unless a hook merges.
struct ChangeConflict: Error {
    /// The server's record.
    var server: JSON
    /// The refusal's status.
    var status: HTTPResponse.Status

    /// The refusal that shows the record.
    var refusal: Refusal { Refusal(status, .record(server)) }
}
