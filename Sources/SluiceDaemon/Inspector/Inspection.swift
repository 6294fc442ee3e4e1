internal import Sluice
internal import Synchronization

/// What the inspector keeps for as long as the daemon runs, whatever configuration serves: who is signed in, what was
/// exchanged, and figures over time.
final class Inspection: Sendable {
    let sessions = InspectorSessions(environment: .system)
    let timeline: Timeline
    let figures = Figures(environment: .system)
    /// Whether it changes nothing.
    let isReadOnly: Bool
    private let listening = Mutex<Int?>(nil)

    init(_ values: SettingValues) {
        timeline = Timeline(environment: .system, hasBodies: values.flag("inspector.bodies"))
        isReadOnly = values.flag("inspector.read-only")
    }

    /// The port that it listens on; nil before it does.
    var port: Int? {
        get { listening.withLock { $0 } }
        set { listening.withLock { $0 = newValue } }
    }

    /// An address that signs in whoever opens it first, within ten minutes.
    ///
    /// - Throws: ``SluiceError`` of code `network` before there is a port.
    func address() throws -> String {
        guard let port else { throw SluiceError(.network, "the inspector does not listen yet") }
        return "http://127.0.0.1:\(port)/inspector/?token=\(sessions.ticket())"
    }
}
