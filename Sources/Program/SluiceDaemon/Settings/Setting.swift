internal import Sluice
internal import SluiceConfiguration
internal import SluiceSignOn

/// One value of the configuration, declared once for the reader, `sluice config explain`, the JSON Schema and the
/// tables of the documentation.
package struct Setting: Sendable, Hashable {
    /// The part of the configuration that a setting belongs to.
    package enum Scope: Sendable, Hashable {
        /// One endpoint; at the top of the file the value applies to all of them.
        case endpoint
        /// The daemon as a whole.
        case daemon
    }

    /// The name, with a dot between a group and its member: `schedule.interval`.
    package let key: String
    package let form: SettingForm
    /// The default value as a text; nil if there is none.
    package let fallback: String?
    /// The purpose of the setting, in one sentence.
    package let about: String
    package let scope: Scope
    /// Whether the value itself is a secret: it is never shown, and stands in no file but in the environment.
    package let isSecret: Bool

    init(
        _ key: String, _ form: SettingForm, _ about: String, or fallback: String? = nil, for scope: Scope = .endpoint,
        isSecret: Bool = false
    ) {
        self.key = key
        self.form = form
        self.fallback = fallback
        self.about = about
        self.scope = scope
        self.isSecret = isSecret
    }

    /// The group; nil for a setting of its own.
    package var group: String? { key.split(separator: ".").dropLast().first.map(String.init) }
    /// The name within the group.
    package var name: String { key.split(separator: ".").last.map(String.init) ?? key }

    /// The name of the environment variable.
    package var variable: String { Self.variable(key) }

    static func variable(_ key: String) -> String {
        "SLUICE_" + String(key.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }).uppercased()
    }
}

extension Setting {
    private static let pause: SettingForm = .duration(.zero ... .seconds(86_400))
    private static let count: SettingForm = .integer(1...1_000_000)

    /// All settings, in groups as documented.
    package static let all: [Setting] = connection + access + network + schedule + traffic + limits + policy + daemon

    private static let connection: [Setting] = [
        Setting("endpoint", .text, "The server's base address."),
        Setting("store", .path, "The local store's file."),
        Setting("dialect", .choice(Dialect.known.map(\.name)), "The server's wire.", or: Dialect.azureV2.name),
        Setting(
            "durability", .choice(["full", "normal"]),
            "Whether a write that returned survives a power cut (full), or only the end of the process (normal).",
            or: "full"),
        Setting(
            "conflicts", .choice(ConflictPolicy.allCases.map(\.rawValue)),
            "What is done with a conflict that no plugin decides.", or: "hold"),
        Setting("user", .text, "Whose data and changes these are; else what the token says of its owner."),
        Setting("plugins", .path, "The policy of the deployment's plugins."),
        Setting("secrets", .path, "A folder with the plugins' secrets, a file for each."),
    ]

    private static let access: [Setting] = [
        Setting(
            "token-file", .path,
            "A file with the token; read again when the server refuses the token, and when the file changes."),
        Setting(
            "token-command", .list, "A program and its arguments that prints a token; run again when it is refused."),
        Setting("token", .text, "The token itself: in the environment only.", isSecret: true),
        Setting(
            "token-scheme", .choice(["zumo", "bearer", "basic"]),
            "The header: X-ZUMO-AUTH, Authorization: Bearer, or Basic, whose token is name:password.", or: "zumo"),
        Setting("application-key-file", .path, "azure-v1: a file with the application's key."),
        Setting("application-key", .text, "azure-v1: the key itself, in the environment only.", isSecret: true),
        Setting("key-file", .path, "The key of an encrypted store: 32 bytes or 64 digits."),
        Setting("passphrase-file", .path, "Or its passphrase."),
        Setting("store-key", .text, "The key in 64 digits, in the environment only.", isSecret: true),
        Setting("store-passphrase", .text, "The passphrase itself, in the environment only.", isSecret: true),
        Setting("oauth.token-url", .text, "OAuth 2.0: the address that issues tokens (https, or this machine)."),
        Setting("oauth.client-id", .text, "OAuth 2.0: the client's name."),
        Setting("oauth.client-secret-file", .path, "OAuth 2.0: a file with the client's secret."),
        Setting(
            "oauth.refresh-token-file", .path,
            "OAuth 2.0: a file with a refresh token; replaced when the server issues another. Without it the client's "
                + "own credentials are used."),
        Setting("oauth.scope", .text, "OAuth 2.0: what is asked for."),
        Setting(
            "oauth.device-url", .text,
            "OAuth 2.0: the address that issues codes; `sluice sign-in` fetches the refresh token there."),
        Setting(
            "oauth.assertion-key-file", .path,
            "OAuth 2.0: a private key in PEM; tokens are issued for assertions signed with it (RFC 7523)."),
        Setting(
            "oauth.assertion-algorithm", .choice(SignedAssertion.Algorithm.allCases.map(\.rawValue)),
            "OAuth 2.0: the signature of assertions.", or: SignedAssertion.Algorithm.rs256.rawValue),
        Setting("oauth.assertion-key-id", .text, "OAuth 2.0: the key's id in assertions."),
        Setting("oauth.assertion-subject", .text, "OAuth 2.0: whom assertions are for; by default the client."),
        Setting(
            "app-service.provider", .text,
            "App Service: the identity provider whose tokens are exchanged for the app's, such as aad."),
    ]

    private static let network: [Setting] = [
        Setting(
            "proxy", .text,
            "The proxy to the server, http://HOST:PORT; `none` for none. By default HTTPS_PROXY, HTTP_PROXY and NO_PROXY "
                + "of the environment say it."),
        Setting("proxy-credentials-file", .path, "A file with name:password for the proxy."),
        Setting(
            "no-proxy", .list, "Hosts that are reached without `proxy`: names with those below, addresses, networks."),
        Setting("tls.certificate-file", .path, "Mutual TLS: the client's certificate and those above it, in PEM."),
        Setting("tls.key-file", .path, "Mutual TLS: the certificate's private key, in PEM without a passphrase."),
        Setting("tls.authorities-file", .path, "Authorities in PEM that are believed beside the system's."),
    ]

    private static let schedule: [Setting] = [
        Setting(
            "schedule.interval", pauseOf(.seconds(1)), "How long after a run everything is synced again.", or: "5m"),
        Setting(
            "schedule.windows", .list, "Times of the day in which runs may begin, such as 22:00-06:00; local time."),
        Setting("schedule.on-change", .flag, "Whether a local write is pushed by itself.", or: "true"),
        Setting("schedule.change-delay", pause, "How long after the first of several writes.", or: "1s"),
        Setting("schedule.on-network", .flag, "Whether a run follows when an address or link comes up.", or: "true"),
        Setting(
            "schedule.on-event", .flag, "Whether the server's change events are followed, where it has them.",
            or: "true"),
        Setting(
            "schedule.first-pause", pause, "The longest pause after a first failure; it doubles with each.", or: "1s"),
        Setting("schedule.longest-pause", pause, "The longest pause after any failure.", or: "5m"),
        Setting("schedule.spread", pause, "Over which time devices spread that one event wakes.", or: "5s"),
        Setting("retry.attempts", .integer(1...100), "How often one request is sent within a run.", or: "3"),
        Setting("retry.first-pause", pause, "The pause before the first repeat of a request.", or: "200ms"),
        Setting("retry.longest-pause", pause, "The longest pause before a repeat of a request.", or: "5s"),
    ]

    private static let limits: [Setting] = [
        Setting(
            "batch", .integer(1...100),
            "How many changes go in one request; by default as many as the server says that it takes."),
        Setting("concurrency", .integer(1...64), "How many requests are under way at once.", or: "1"),
        Setting(
            "limits.attempts", count, "After how many failed attempts an operation waits for a decision.", or: "10"),
        Setting("limits.page-size", .integer(1...10_000), "How many rows a pull asks for at once.", or: "1000"),
        Setting("limits.request-time", pauseOf(.milliseconds(1)), "How long one exchange may take.", or: "100s"),
        Setting("limits.answer-bytes", .integer(1024...1_073_741_824), "The largest answer, unpacked.", or: "16777216"),
    ]

    private static let traffic: [Setting] = [
        Setting(
            "traffic.metered", .flag, "Whether the line costs: changes are sent, and pulls are seldom.", or: "false"),
        Setting("traffic.metered-file", .path, "A file that says the same while it is there and is not 0."),
        Setting("traffic.metered-interval", pauseOf(.seconds(1)), "The time between pulls on such a line.", or: "1d"),
        Setting(
            "traffic.daily-bytes", .integer(1...1_000_000_000_000),
            "After so many bytes of bodies a day, scheduled runs wait for the next day."),
    ]

    private static let policy: [Setting] = [
        Setting("policy.url", .text, "Where releases of a policy come from: a file of any web server."),
        Setting("policy.table", .text, "Or the synced table of which a row has it."),
        Setting("policy.keys", .list, "Files of the keys whose signatures are trusted."),
        Setting("policy.required", .integer(1...16), "How many of the keys have to have signed.", or: "1"),
        Setting("policy.name", .text, "The only name of releases that is taken; by default the first one's."),
        Setting("policy.device", .text, "The device's id; by default one made by chance, and kept."),
        Setting("policy.labels", .list, "The device's labels, such as ring=canary, by which releases choose devices."),
        Setting("policy.folder", .path, "Where releases and state are kept; by default STORE.policy beside the store."),
        Setting("policy.every", pauseOf(.seconds(1)), "How often the server is asked.", or: "5m"),
        Setting("policy.trial", pause, "How long a release is tried as a shadow before it serves.", or: "10m"),
        Setting("policy.trial-decisions", count, "After how many compared decisions the trial ends earlier."),
        Setting("policy.probation", pause, "How long a release that serves may still go back.", or: "1h"),
        Setting("policy.most-differences", .text, "The largest share of differing decisions in a trial.", or: "5%"),
        Setting("policy.most-errors", .text, "The largest share of failed calls.", or: "1%"),
        Setting("policy.most-overruns", .text, "The largest share of calls over their limits.", or: "1%"),
        Setting("policy.most-held", .text, "The largest share of calls that hold an operation.", or: "5%"),
        Setting("policy.most-refused", .text, "The largest share of calls that refuse a write.", or: "5%"),
        Setting("policy.least-calls", count, "How many calls are made before a share is judged.", or: "20"),
        Setting("policy.grants", .path, "A file with the permissions that plugins of releases may have."),
        Setting("policy.status-table", .text, "The synced table in which this device has a row with its status."),
        Setting("policy.status-url", .text, "Or the address to which that row is sent, as JSON in a POST."),
        Setting("policy.status-token-file", .path, "The file with the token that is sent there, as a Bearer."),
        Setting("policy.status-every", pauseOf(.seconds(1)), "How often that row is written without news.", or: "1h"),
        Setting("policy.status-decisions", .integer(0...100), "How many of the newest decisions it has.", or: "0"),
        Setting(
            "policy.status-daily-bytes", .integer(1...1_000_000_000),
            "After so many bytes of it a day, only version and errors go."),
    ]

    private static func pauseOf(_ least: Duration) -> SettingForm { .duration(least ... .seconds(31 * 86_400)) }

    private static let daemon: [Setting] = [
        Setting(
            "control.socket", .path, "The socket of sluice ctl; by default STORE.sock beside the store.", for: .daemon),
        Setting(
            "control.group", .text, "The group that may use the control socket and the gateway's socket.", for: .daemon),
        Setting(
            "control.users", .list, "Users that may use these sockets, besides the daemon's own and root.", for: .daemon
        ),
        Setting(
            "watch", .flag, "Whether a changed configuration, policy or plugin is loaded by itself.", or: "true",
            for: .daemon),
        Setting(
            "shutdown-time", pauseOf(.milliseconds(1)), "How long a request under way may go on at the end.", or: "10s",
            for: .daemon),
        Setting("gateway.socket", .path, "The local gateway's Unix socket.", for: .daemon),
        Setting(
            "gateway.port", .integer(0...65_535), "The local gateway's port on 127.0.0.1; 0 is a free one.",
            for: .daemon),
        Setting("gateway.token-file", .path, "A file with the token that the port's clients send.", for: .daemon),
        Setting(
            "gateway.any-local-user", .flag, "Whether any user of this machine may use the port without a token.",
            or: "false", for: .daemon),
        Setting(
            "metrics.port", .integer(0...65_535),
            "A port on 127.0.0.1 where Prometheus asks for /metrics; 0 is a free one.", for: .daemon),
        Setting(
            "inspector.port", .integer(0...65_535), "The inspector's port on 127.0.0.1; 0 is a free one.", for: .daemon),
        Setting(
            "inspector.read-only", .flag, "Whether the inspector shows and tries, and changes nothing.", or: "false",
            for: .daemon),
        Setting(
            "inspector.bodies", .flag,
            "Whether its timeline keeps queries and the beginnings of bodies; credentials are never kept.",
            or: "false", for: .daemon),
        Setting(
            "log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            "The least severe level that is logged.", or: "info", for: .daemon),
        Setting(
            "log.form", .choice(["text", "json", "journald"]), "How a line of the log is written.", or: "text",
            for: .daemon),
        Setting(
            "tracing.endpoint", .text,
            "Where traces are sent, as OTLP's JSON over HTTP, such as http://127.0.0.1:4318/v1/traces.", for: .daemon),
        Setting(
            "tracing.service", .text, "The name of the service that the traces give.", or: "sluice", for: .daemon),
    ]
}
