#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The `sluice` program.
@main
enum Main {
    static func main() async {
        let status = await CommandRunner(arguments: Array(CommandLine.arguments.dropFirst())).run()
        exit(status.rawValue)
    }
}
