internal import ArgumentParser
internal import Sluice

/// The root of all commands.
struct SluiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice",
        abstract: "Keeps a local store and a server's tables in step, with or without a network.",
        discussion: """
            Exit codes: 0 done, 2 usage, 3 no network, 4 not authorised, 5 conflicts or failed operations remain, \
            6 local store, 7 the server broke the protocol, 8 the output could not be written.
            """,
        version: SluiceVersion.full,
        groupedSubcommands: [
            CommandGroup(name: "Sync", subcommands: sync),
            CommandGroup(name: "Local record", subcommands: records),
            CommandGroup(name: "State", subcommands: state),
            CommandGroup(name: "Program", subcommands: programs),
        ])

    private static let sync: [any ParsableCommand.Type] = [
        PullCommand.self, PushCommand.self, SyncCommand.self, ReconcileCommand.self, SignInCommand.self,
    ]
    private static let records: [any ParsableCommand.Type] = [
        QueryCommand.self, SQLCommand.self, GetCommand.self, InsertCommand.self, ImportCommand.self,
        UpdateCommand.self, DeleteCommand.self, UndeleteCommand.self, PurgeCommand.self,
    ]
    private static let state: [any ParsableCommand.Type] = [
        StatusCommand.self, DoctorCommand.self, ProbeCommand.self, ExplainCommand.self, QueueCommand.self,
        QuarantineCommand.self,
        StoreCommand.self,
    ]
    private static let programs: [any ParsableCommand.Type] = [
        DemoCommand.self, DaemonCommand.self, CtlCommand.self, InspectorCommand.self,
        ConfigCommand.self, ServeCommand.self,
        BackendCommand.self, PluginCommand.self, PolicyCommand.self, ODataCommand.self,
    ]

    /// All commands.
    static let all = sync + records + state + programs
}
