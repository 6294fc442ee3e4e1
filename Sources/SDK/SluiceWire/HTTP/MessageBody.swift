public import SluiceBase
internal import Synchronization

/// The body of a request or a response: bytes or JSON, converted to the other form at most once.
public struct MessageBody: Sendable {
    private final class Storage: Sendable {
        struct State {
            var bytes: [UInt8]?
            var json: Result<JSON, JSON.ParseError>?
        }
        let state: Mutex<State>
        init(_ state: State) { self.state = Mutex(state) }
    }

    private let storage: Storage
    /// The maximum number of names and values that are read from the bytes.
    package let maximumValues: Int

    /// The maximum nesting of an answer that is parsed as a document. It is larger than for a record, so that one
    /// record does not block its page.
    private static let maximumDepth = 4 * JSON.maximumDepth

    /// A body of those bytes.
    public init(bytes: [UInt8]) { self.init(bytes: bytes, maximumValues: .max) }

    /// A body of those bytes, from which at most that many names and values are read.
    package init(bytes: [UInt8], maximumValues: Int) {
        storage = Storage(.init(bytes: bytes, json: nil))
        self.maximumValues = maximumValues
    }

    /// A body of that document.
    public init(json: JSON) {
        storage = Storage(.init(bytes: nil, json: .success(json)))
        maximumValues = .max
    }

    /// A body without a byte.
    public static var empty: MessageBody { MessageBody(bytes: []) }

    /// The body as bytes; a document is printed at the first call.
    public var bytes: [UInt8] {
        storage.state.withLock { state in
            if let bytes = state.bytes { return bytes }
            let bytes = (try? state.json?.get().bytes()) ?? []
            state.bytes = bytes
            return bytes
        }
    }

    /// The body as a document; bytes are parsed at the first call.
    ///
    /// - Throws: ``JSON.ParseError`` if the bytes are not JSON, or hold more than ``SyncRequest.Limits/responseValues``.
    public var json: JSON {
        get throws(JSON.ParseError) {
            try storage.state.withLock { state in
                if let json = state.json { return json }
                let json: Result<JSON, JSON.ParseError>
                do throws(JSON.ParseError) {
                    json = .success(
                        try JSON(
                            parsing: state.bytes ?? [], maximumValues: maximumValues,
                            maximumDepth: maximumValues == .max ? JSON.maximumDepth : Self.maximumDepth))
                } catch {
                    json = .failure(error)
                }
                state.json = json
                return json
            }.get()
        }
    }

    /// Whether the body has no byte. A document is never empty.
    public var isEmpty: Bool { storage.state.withLock { $0.bytes?.isEmpty ?? false } }

    /// The bytes, if the body was never read as a document: the fast path of a page into the store.
    package var untouchedBytes: [UInt8]? { storage.state.withLock { $0.json == nil ? $0.bytes : nil } }
}

extension RowPage {
    /// Reads the page of a body: from its bytes if it was never read as a document, else from the document.
    ///
    /// - Throws: as ``init(bytes:columns:shape:table:)``.
    package init(
        body: MessageBody, columns: SystemColumns = SystemColumns(), shape: Shape = .results, table: String? = nil,
        allowsIntegerIDs: Bool = false, requiresIDs: Bool = true, setsAside: Bool = false
    ) throws(SluiceError) {
        try self.init(
            bytes: body.bytes, columns: columns, shape: shape, table: table, allowsIntegerIDs: allowsIntegerIDs,
            requiresIDs: requiresIDs, setsAside: setsAside, maximumValues: body.maximumValues)
    }
}
