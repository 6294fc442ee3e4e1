internal import Logging
internal import SluiceCore

extension HostModule {
    static let log = HostModule(
        "log", "sluice.Log",
        "The log: 100 lines of 2 KiB a call, those of `print` among them. What JSON cannot say is shown in words: a line fails no hook. Also there as `ctx.log`.",
        ["debug", "info", "warn", "error"].map {
            .lua(
                $0, [("message", "string"), ("fields?", "table")], "", "Writes a line.",
                """
                function(a, b, c)
                  if a == log then a, b = b, c end
                  if a == nil then a = "nil" end
                  tell("log", "\($0)", a, b)
                end
                """)
        },
        hidden: [
            HostFunction("log") { call in
                call.host.log(call.arguments, call.hook)
                return .value(nil)
            }
        ])
}

extension HostFunctions {
    private static let maximumLines = 100
    private static let maximumLine = 2048

    /// Writes a line: to the call's log, and to the logger; while the plugin is loaded to the logger alone.
    fileprivate func log(_ arguments: HostArguments, _ call: CallState?) {
        guard let call else {
            settings.logger.log(
                level: Self.level(arguments[0]?.string), "\(redact(Self.words(arguments[1])))",
                metadata: ["plugin": "\(plan.name)"])
            return
        }
        guard call.log.count < Self.maximumLines else {
            call.droppedLines += 1
            return
        }
        let level = arguments[0]?.string ?? "info"
        let fields = arguments[2].flatMap { $0.isNull ? nil : clipped($0) }
        let line = PluginLogLine(level: level, message: clip(redact(Self.words(arguments[1]))), fields: fields)
        call.log.append(line)
        var metadata: Logger.Metadata = ["plugin": "\(plan.name)", "hook": "\(call.plan.rawValue)"]
        if let fields { metadata["fields"] = "\(fields)" }
        settings.logger.log(level: Self.level(level), "\(line.message)", metadata: metadata)
    }

    private func clip(_ text: String) -> String {
        text.utf8.count <= Self.maximumLine ? text : String(decoding: text.utf8.prefix(Self.maximumLine), as: UTF8.self)
    }

    /// Returns a value for a log line: without secrets, and at most as long as a line.
    func clipped(_ value: JSON) -> JSON {
        let value = redact(value)
        return value.bytes().count <= Self.maximumLine ? value : JSON(clip(value.description))
    }

    /// Returns the text of a log line: a text as it is, and any other value as JSON.
    static func words(_ value: JSON?) -> String { value.map { $0.string ?? $0.description } ?? "" }

    private static func level(_ name: String?) -> Logger.Level {
        switch name {
        case "debug": .debug
        case "warn": .warning
        case "error": .error
        default: .info
        }
    }
}
