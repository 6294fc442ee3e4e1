/// What becomes of a failure of a hook: an error of the script, a kill, or an answer that it may not give.
public enum HookErrorPolicy: String, Sendable, Hashable, CaseIterable {
    /// The request is not sent, the write refused, the page not stored and the pull's place not moved.
    case failClosed = "fail_closed"
    /// Things go on as if the hook had not been there.
    case failOpen = "fail_open"
    /// The operation is held with the plugin's name and the reason, until someone decides. Nothing is lost.
    case hold
    /// The next handler is asked, and after the last the policy that is built in.
    case next
    /// The server's record stands.
    case server
    /// The local record is sent again on top of the server's version.
    case client
}

extension HookKind {
    /// What becomes of a failure where nothing else is said.
    public var errorPolicy: HookErrorPolicy { errorPolicies[0] }

    /// What may be said of it; the first is the default.
    public var errorPolicies: [HookErrorPolicy] {
        switch self {
        case .filter, .request, .beforeEnqueue, .beforePush: [.failClosed, .failOpen]
        case .response: [.failOpen, .failClosed]
        case .afterPull, .afterPullPage: [.failClosed, .failOpen]
        case .onConflict: [.hold, .next, .server, .client]
        // The server's record, or another send, would be a decision on a change that the script was to make.
        case .onPushError: [.hold, .next]
        case .onSchedule, .onEvent: [.failOpen]
        case .initialize: [.failClosed]
        }
    }
}
