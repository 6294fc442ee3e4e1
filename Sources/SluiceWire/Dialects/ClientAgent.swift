internal import SluiceBase

/// How a client identifies itself, in `X-ZUMO-VERSION` and `User-Agent`.
package enum ClientAgent: Sendable, Hashable {
    /// As the clients of Mobile Services and Mobile Apps: `ZUMO/3.0 (lang=swift; os=Linux; …; version=…)`.
    case zumo
    /// As the clients of Datasync: `Datasync/… (…)`.
    case datasync

    /// The field's value. The operating system's version is left out, as it does where older clients cannot tell.
    package var text: String {
        switch self {
        case .zumo:
            "ZUMO/3.0 (lang=swift; os=\(Self.system); os_version=--; arch=\(Self.architecture); "
                + "version=sluice-\(SluiceVersion.text))"
        case .datasync:
            "Datasync/\(SluiceVersion.text) (sluice; lang=swift; os=\(Self.system); arch=\(Self.architecture))"
        }
    }

    private static var system: String {
        #if os(Linux)
            "Linux"
        #elseif os(macOS)
            "macOS"
        #elseif os(iOS)
            "iOS"
        #else
            "--"
        #endif
    }

    private static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "--"
        #endif
    }
}
