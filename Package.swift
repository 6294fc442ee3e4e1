// swift-tools-version: 6.2
import PackageDescription

// `Sources` has rooms, by who uses what stands in them. A room knows those above it in this list, and none below.
let rooms = sdk + services + scripting + server + program + lab

let package = Package(
    name: "sluice",
    products: [
        .library(name: "Sluice", targets: ["Sluice"]),
        .library(name: "SluiceCore", targets: ["SluiceCore"]),
        .library(name: "SluiceOData", targets: ["SluiceOData"]),
        .library(name: "SluiceStores", targets: ["SluiceStores"]),
        .library(name: "SluiceProbe", targets: ["SluiceProbe"]),
        .library(name: "SluiceAdopt", targets: ["SluiceAdopt"]),
        .library(name: "SluiceHTTP", targets: ["SluiceHTTP"]),
        .library(name: "SluiceService", targets: ["SluiceService"]),
        .library(name: "SluiceSignOn", targets: ["SluiceSignOn"]),
        .library(name: "SluicePredicate", targets: ["SluicePredicate"]),
        .library(name: "SluiceSQLite", targets: ["SluiceSQLite"]),
        .library(name: "SluiceBackend", targets: ["SluiceBackend"]),
        .library(name: "SluiceDaemon", targets: ["SluiceDaemon"]),
        .library(name: "SluiceLua", targets: ["SluiceLua"]),
        .library(name: "SluicePluginTools", targets: ["SluicePluginTools"]),
        .library(name: "SluiceTesting", targets: ["SluiceTesting"]),
        .executable(name: "sluice", targets: ["SluiceCLI"]),
        .executable(name: "sluice-lab", targets: ["SluiceLab"]),
    ],
    // Each is a whole: one is enough. With several, Swift 6.3 passes their flags in another order each time, and compiles
    // everything again.
    traits: [
        .default(enabledTraits: ["All"]),
        .trait(name: "All", description: "The daemon, the command and the backend as well."),
        .trait(name: "HTTP", description: "The transport over sockets, with AsyncHTTPClient."),
        .trait(name: "Lua", description: "That, with plugins and policies in Lua."),
        .trait(name: "Service", description: "That, with sync as a service, metrics and traces."),
        .trait(name: "SignOn", description: "Tokens of OAuth servers and of App Service, with jwt-kit."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.4.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ],
    targets: rooms + testSupport + testPrograms + suites,
    swiftLanguageModes: [.v6]
)

/// The commit that a release is built from: `.ci/version commit` tells it.
var commit: String { Context.environment["SLUICE_COMMIT"] ?? "" }

// MARK: SDK: what an application links to read, write and synchronize

var sdk: [Target] {
    room(
        "SDK",
        [
            // C: jansson as the system has it, and the SQLite API as a table of functions.
            .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
            .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
            // C: the commit that a release was built from. Where it changes, this file alone is compiled again.
            .target(name: "CSluiceCommit", cSettings: commit.isEmpty ? nil : [.define("SLUICE_COMMIT", to: commit)]),
            // The core, in three layers: each knows those above it in this list only.
            .target(name: "SluiceBase", dependencies: ["CJansson", "CSluiceCommit"]),
            .target(name: "SluiceWire", dependencies: ["SluiceBase", httpTypes]),
            .target(name: "SluiceSync", dependencies: ["SluiceBase", "SluiceWire", httpTypes, logging]),
            .target(name: "SluiceCore", dependencies: ["SluiceBase", "SluiceSync", "SluiceWire"]),
            // OData v2 and v4: what a service says of itself, its values, and its wires.
            .target(name: "SluiceOData", dependencies: ["SluiceBase", "SluiceWire", httpTypes]),
            .target(name: "SluiceSQLite", dependencies: ["SluiceCore", "CSQLite"]),
            .target(
                name: "SluiceHTTP",
                dependencies: [
                    "SluiceCore", asyncHTTPClient, httpTypes, nioCore, nioEmbedded, nioHTTP1, nioHTTPCompression,
                    nioPosix, nioSSL,
                ]),
            .target(name: "SluicePredicate", dependencies: ["SluiceCore"]),
            .target(
                name: "Sluice",
                dependencies: [
                    "SluiceCore",
                    .target(name: "SluiceHTTP", condition: .when(traits: ["All", "HTTP", "Lua", "Service"])),
                    "SluiceOData", "SluicePredicate", "SluiceSQLite", httpTypes,
                ]),
        ])
}

// MARK: Services: what some applications link besides

var services: [Target] {
    room(
        "Services",
        [
            // Sync as a service of a host's own daemon: no server, no plugins, no configuration.
            .target(
                name: "SluiceService",
                dependencies: ["SluiceCore", coreMetrics, httpTypes, logging, serviceLifecycle, tracing]),
            // Tokens: of OAuth servers, by a user's sign-in on another device, and of App Service.
            .target(name: "SluiceSignOn", dependencies: ["SluiceBase", "SluiceWire", httpTypes, jwtKit]),
            // One interface to a service's data online and offline: defining requests, and which requests they cover.
            .target(
                name: "SluiceStores",
                dependencies: ["SluiceBase", "SluiceOData", "SluiceSync", "SluiceWire", httpTypes]),
            // The examination of a server before it is trusted with data.
            .target(
                name: "SluiceProbe",
                dependencies: ["SluiceBase", "SluiceOData", "SluiceStores", "SluiceSync", "SluiceWire", httpTypes]),
            // The local stores of SDKs whose development has ended, and the way from there.
            .target(
                name: "SluiceAdopt", dependencies: ["SluiceBase", "SluiceSQLite", "SluiceSync", "SluiceWire"]),
        ])
}

// MARK: Scripting: plugins in Lua

var scripting: [Target] {
    room(
        "Scripting",
        [
            // C: Lua 5.4 for scripts that nobody vouches for. The one target that knows Lua.
            .target(name: "CLuaSandbox", linkerSettings: [.linkedLibrary("lua5.4"), .linkedLibrary("jansson")]),
            // YAML, read strictly: what policies and the server's and the command's configurations have in common.
            .target(name: "SluiceConfiguration", dependencies: ["SluiceCore", yams]),
            // Bundles, the deployment's policy, and the host that runs plugins.
            .target(
                name: "SluiceLua",
                dependencies: [
                    "CJansson", "CLuaSandbox", "SluiceConfiguration", "SluiceCore", coreMetrics, crypto, httpTypes,
                    logging,
                ]),
            // Policies as signed releases, and a device's way from one to the next.
            .target(
                name: "SluicePolicy", dependencies: ["SluiceConfiguration", "SluiceCore", "SluiceLua", crypto]),
            // What authors of plugins use by the command line. No embedder links it.
            .target(
                name: "SluicePluginTools",
                dependencies: [
                    "CJansson", "CLuaSandbox", "SluiceConfiguration", "SluiceCore", "SluiceLua", crypto, httpTypes,
                ]),
        ])
}

// MARK: Server: tables over HTTP, on SQLite and PostgreSQL

var server: [Target] {
    room(
        "Server",
        [
            .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
            // Connections to PostgreSQL, through libpq.
            .target(name: "SluicePostgres", dependencies: ["CLibPQ", "SluiceCore"]),
            .target(
                name: "SluiceBackend",
                dependencies: [
                    "SluiceConfiguration", "SluiceCore", "SluiceOData", "SluicePostgres", "SluiceSQLite", coreMetrics,
                    crypto, hummingbird, jwtKit, httpTypes, logging, nioCore, nioEmbedded, nioHTTP1, nioHTTPCompression,
                    nioHTTPTypes, serviceLifecycle,
                ]),
        ])
}

// MARK: Program: the daemon and the command

var program: [Target] {
    room(
        "Program",
        [
            // The daemon: configuration, sessions, the control socket, the gateway and the inspector.
            .target(
                name: "SluiceDaemon",
                dependencies: [
                    "Sluice", "SluiceBackend", "SluiceConfiguration", "SluiceLua", "SluicePluginTools",
                    "SluicePolicy", "SluiceService", "SluiceSignOn", asyncHTTPClient, configuration, coreMetrics,
                    crypto, httpTypes,
                    hummingbird, logging, nioCore, nioHTTP1, serviceLifecycle, tracing, unixSignals,
                ],
                resources: [
                    "index.html", "inspector.css", "inspector.js", "dom.js", "views.js", "decisions.js", "policy.js",
                    "icon.svg",
                ].map { .embedInCode("Inspector/Page/\($0)") }),
            .executableTarget(
                name: "SluiceCLI",
                dependencies: [
                    "Sluice", "SluiceAdopt", "SluiceBackend", "SluiceConfiguration", "SluiceDaemon", "SluiceLua",
                    "SluicePluginTools", "SluicePolicy", "SluiceProbe", "SluiceSignOn", argumentParser, asyncHTTPClient,
                    crypto, logging,
                    nioCore, nioHTTP1, serviceLifecycle, unixSignals,
                ],
                resources: [.copy("Resources/movies.json")]),
        ])
}

// MARK: Lab: for authors of stores and handlers, and for the tests

var lab: [Target] {
    room(
        "Lab",
        [
            .target(
                name: "SluiceTesting", dependencies: ["SluiceCore", "SluiceOData", "SluiceSQLite", httpTypes]),
            // The simulator and the kit for stores as a program.
            .executableTarget(
                name: "SluiceLab",
                dependencies: ["SluiceCore", "SluiceOData", "SluiceSQLite", "SluiceTesting", argumentParser]),
        ])
}

// MARK: Tests: rooms too, of which scripts and data have no targets

var testSupport: [Target] {
    room(
        "Support", in: "Tests",
        [
            // Where the repository has the files that tests read and write.
            .target(name: "RepositoryFiles"),
            // A server that lies in every way that a case names, for the tests and the torture program.
            .target(name: "HostileCases", dependencies: ["SluiceCore", "SluiceTesting", httpTypes]),
            // What several tests share: storage that fails, generated queries, what fuzzers check.
            .target(
                name: "SluiceTestSupport",
                dependencies: [
                    "CJansson", "CSQLite", "CSQLiteFaults", "RepositoryFiles", "SluiceCore", "SluiceOData",
                    "SluiceSQLite", "SluiceTesting", httpTypes,
                ]),
            // C: a file system for SQLite that fails where a test wants it to.
            .target(name: "CSQLiteFaults", dependencies: ["CSQLite"]),
            // C: Lua as it comes, which the sandbox's own functions are held against.
            .target(name: "LuaReference", linkerSettings: [.linkedLibrary("lua5.4")]),
        ])
}

var testPrograms: [Target] {
    [
        // Ends processes and storage in the middle of their work.
        .executableTarget(
            name: "torture", dependencies: ["HostileCases", "Sluice", "SluiceTesting", argumentParser],
            path: "Tests/Programs/Torture")
    ]
}

var suites: [Target] {
    let ofCore: [Target.Dependency] = [
        "CJansson", "RepositoryFiles", "SluiceCore", "SluiceSQLite", "SluiceTesting", "SluiceTestSupport", httpTypes,
    ]
    return room(
        "Suites", in: "Tests",
        [
            .testTarget(name: "SluiceBaseTests", dependencies: ofCore),
            .testTarget(name: "SluiceWireTests", dependencies: ofCore),
            .testTarget(name: "SluiceSyncTests", dependencies: ofCore),
            .testTarget(
                name: "LuaSandboxTests", dependencies: ["CJansson", "CLuaSandbox", "LuaReference", "RepositoryFiles"]),
            .testTarget(
                name: "SluiceODataTests",
                dependencies: ["RepositoryFiles", "SluiceCore", "SluiceOData", "SluiceTesting", httpTypes]),
            // With services that others wrote: .ci/peers starts them; without them its tests are skipped.
            .testTarget(
                name: "SluicePeerTests", dependencies: ["Sluice", "SluiceProbe", httpTypes], exclude: ["Peers"]),
            .testTarget(
                name: "SluicePredicateTests",
                dependencies: ["SluiceCore", "SluicePredicate", "SluiceSQLite", "SluiceTesting"]),
            .testTarget(
                name: "SluiceSQLiteTests",
                dependencies: ["RepositoryFiles", "SluiceSQLite", "SluiceTesting", "SluiceTestSupport", "CSQLite"]),
            .testTarget(
                name: "SluiceStoresTests",
                dependencies: [
                    "SluiceBackend", "SluiceBase", "SluiceCore", "SluiceOData", "SluiceSQLite", "SluiceStores",
                    "SluiceTesting", "SluiceTestSupport", httpTypes,
                ]),
            .testTarget(
                name: "SluiceProbeTests",
                dependencies: [
                    "HostileCases", "RepositoryFiles", "SluiceBackend", "SluiceCore", "SluiceHTTP", "SluiceOData",
                    "SluiceProbe",
                    "SluiceTesting", httpTypes,
                ]),
            .testTarget(
                name: "SluiceAdoptTests",
                dependencies: [
                    "RepositoryFiles", "SluiceAdopt", "SluiceBackend", "SluiceCore", "SluiceOData", "SluiceSQLite",
                    "SluiceSync", "SluiceTesting", "SluiceTestSupport", "SluiceWire", httpTypes,
                ]),
            .testTarget(
                name: "SluiceLuaTests",
                dependencies: [
                    "RepositoryFiles", "SluiceConfiguration", "SluiceCore", "SluiceLua", "SluicePluginTools",
                    "SluiceTesting", "SluiceTestSupport", httpTypes, metricsTestKit,
                ]),
            .testTarget(
                name: "SluicePolicyTests",
                dependencies: [
                    "SluiceBase", "SluiceCore", "SluiceLua", "SluicePluginTools", "SluicePolicy",
                ]),
            .testTarget(
                name: "SluiceHTTPTests",
                dependencies: ["SluiceHTTP", "SluiceSQLite", "SluiceTesting", httpTypes, nioCore, nioPosix]),
            .testTarget(
                name: "SluiceBackendTests",
                dependencies: [
                    "RepositoryFiles", "SluiceBackend", "Sluice", "SluicePostgres", "SluiceTesting",
                    "SluiceTestSupport", coreMetrics,
                    product("HummingbirdTesting", of: "hummingbird"), jwtKit, httpTypes, logging, nioCore,
                    product("NIOEmbedded", of: "swift-nio", with: "HTTP", "Lua", "Service"), nioHTTP1, nioHTTPTypes,
                    nioPosix,
                ]),
            .testTarget(
                name: "SluiceServiceTests",
                dependencies: [
                    "Sluice", "SluiceService", "SluiceTesting", httpTypes,
                    product("InMemoryTracing", of: "swift-distributed-tracing", with: "Service"), logging,
                    metricsTestKit, serviceLifecycle, tracing,
                ]),
            .testTarget(
                name: "SluiceSignOnTests",
                dependencies: ["SluiceBase", "SluiceSignOn", "SluiceWire", crypto, httpTypes, jwtKit]),
            .testTarget(
                name: "SluiceDaemonTests",
                dependencies: [
                    "RepositoryFiles", "SluiceBackend", "SluiceCore", "SluiceDaemon", "SluiceLua", "SluicePluginTools",
                    "SluicePolicy", "SluicePostgres", "SluiceSignOn", "SluiceTesting", coreMetrics, httpTypes, tracing,
                ]),
            .testTarget(
                name: "SluiceCLITests",
                dependencies: [
                    "HostileCases", "RepositoryFiles", "SluiceCLI", "SluiceLab", "torture", "Sluice",
                    argumentParser, httpTypes,
                ]),
        ])
}

// MARK: Bindings: the engine for other languages

// libsluice.so, with a header in C. It takes `@c`, which Swift has since 6.3.
#if compiler(>=6.3)
    package.products.append(.library(name: "sluice-c", type: .dynamic, targets: ["CSluice", "SluiceC"]))
    package.targets += room(
        "Bindings",
        [
            // C: the header, and nothing that runs.
            .target(name: "CSluice"),
            .target(
                name: "SluiceC",
                dependencies: [
                    "CSluice", "CSluiceCommit", "SluiceCore", "SluiceHTTP", "SluiceLua", "SluiceOData", "SluiceSQLite",
                    logging,
                ],
                exclude: ["exports.map", "sluice.pc.in"],
                linkerSettings: [
                    // Exports what the header declares and nothing else: gold would list local symbols besides. The
                    // library is never unloaded, because it has threads. Swift's own libraries are inside of it where
                    // SLUICE_STATIC is set: `--static-swift-stdlib` of the package manager leaves libraries out.
                    .unsafeFlags(
                        [
                            "-use-ld=lld", "-Xlinker",
                            "--version-script=\(Context.packageDirectory)/Sources/Bindings/SluiceC/exports.map",
                            "-Xlinker", "-soname=libsluice.so", "-Xlinker", "-z", "-Xlinker", "nodelete",
                        ] + (Context.environment["SLUICE_STATIC"] == nil ? [] : ["-static-stdlib"]))
                ]),
        ])
    // Builds programs in C against the library as it is built, and runs them: it links no Swift of it.
    package.targets += room(
        "Suites", in: "Tests",
        [
            .testTarget(
                name: "SluiceCTests",
                dependencies: ["RepositoryFiles", "SluiceBackend", "SluiceCore", "SluiceTesting"],
                exclude: ["Programs"])
        ])
#endif

// Programs that play for hours, each built in a folder and with flags of its own: .ci/program, .ci/fuzz. They are
// there with SLUICE_PROGRAMS=1, so that other builds do not link them.
if Context.environment["SLUICE_PROGRAMS"] != nil {
    package.targets += [
        .executableTarget(
            name: "storage",
            dependencies: ["SluiceTestSupport", argumentParser],
            path: "Tests/Programs/StorageFaults")
    ]
    // libFuzzer has the main function of these.
    package.targets += ["address", "json", "metadata", "multipart", "odata", "wire"].map { name in
        .executableTarget(
            name: "fuzz-\(name)", dependencies: ["SluiceTestSupport"], path: "Tests/Programs/Fuzzing/\(name)",
            swiftSettings: [.unsafeFlags(["-parse-as-library"])])
    }
}

// The suites that `make check` builds, with commas: the others would be compiled and linked for nothing.
if let wanted = Context.environment["SLUICE_SUITES"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

// Whether the package is worked on, and not a dependency of another: those may not have flags of this kind.
let isRoot = !["/checkouts/", "/registry/"].contains { Context.packageDirectory.contains($0) }
// Targets that are optimised in debug builds too, with their assertions: the tests take half of the time so, and the limits
// of plugins are measured in time of the processor.
let optimized =
    isRoot
    ? ["SluiceBase", "SluiceWire", "SluiceSync", "SluiceSQLite", "SluiceTesting", "SluiceLua", "CLuaSandbox"] : []
// One set of rules for every Swift target.
let targetsInC = ["CLuaSandbox", "CSluice", "CSluiceCommit", "CSQLite", "CSQLiteFaults", "LuaReference"]
for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
        ]
    // Conversions of numbers that may end the process are declared as deprecated: see UncheckedNumbers.swift. A test
    // may end; what runs for others may not.
    if target.type != .test { target.swiftSettings?.append(.treatWarning("DeprecatedDeclaration", as: .error)) }
    // Warnings are errors for who works on the package, not on a user's machine.
    if isRoot { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
    if optimized.contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
    }
}
for target in package.targets where targetsInC.contains(target.name) && optimized.contains(target.name) {
    target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"], .when(configuration: .debug))]
}

// MARK: Products of other packages

var httpTypes: Target.Dependency { .product(name: "HTTPTypes", package: "swift-http-types") }
var logging: Target.Dependency { .product(name: "Logging", package: "swift-log") }
var coreMetrics: Target.Dependency { product("CoreMetrics", of: "swift-metrics", with: "Lua", "Service") }
var metricsTestKit: Target.Dependency { product("MetricsTestKit", of: "swift-metrics", with: "Lua", "Service") }
var tracing: Target.Dependency { product("Tracing", of: "swift-distributed-tracing", with: "Service") }
var serviceLifecycle: Target.Dependency { product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Service") }
var unixSignals: Target.Dependency { product("UnixSignals", of: "swift-service-lifecycle", with: "Service") }
var configuration: Target.Dependency { product("Configuration", of: "swift-configuration") }
var argumentParser: Target.Dependency { product("ArgumentParser", of: "swift-argument-parser") }
var yams: Target.Dependency { product("Yams", of: "Yams", with: "Lua") }
var crypto: Target.Dependency { product("Crypto", of: "swift-crypto", with: "Lua") }
var jwtKit: Target.Dependency { product("JWTKit", of: "jwt-kit", with: "SignOn") }
var hummingbird: Target.Dependency { product("Hummingbird", of: "hummingbird") }
var asyncHTTPClient: Target.Dependency {
    product("AsyncHTTPClient", of: "async-http-client", with: "HTTP", "Lua", "Service")
}
var nioCore: Target.Dependency { product("NIOCore", of: "swift-nio", with: "HTTP", "Lua", "Service") }
var nioEmbedded: Target.Dependency { product("NIOEmbedded", of: "swift-nio", with: "HTTP", "Lua", "Service") }
var nioHTTP1: Target.Dependency { product("NIOHTTP1", of: "swift-nio", with: "HTTP", "Lua", "Service") }
var nioPosix: Target.Dependency { product("NIOPosix", of: "swift-nio", with: "HTTP", "Lua", "Service") }
var nioSSL: Target.Dependency { product("NIOSSL", of: "swift-nio-ssl", with: "HTTP", "Lua", "Service") }
var nioHTTPTypes: Target.Dependency { product("NIOHTTPTypes", of: "swift-nio-extras") }
var nioHTTPCompression: Target.Dependency {
    product("NIOHTTPCompression", of: "swift-nio-extras", with: "HTTP", "Lua", "Service")
}

/// A product that the given traits need, besides `All`. Who depends on Sluice with another one does not resolve its package.
func product(_ name: String, of package: String, with traits: String...) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: Set(traits).union(["All"])))
}

/// The targets of a room: a folder of `Sources` or `Tests` with a folder for each.
func room(_ name: String, in place: String = "Sources", _ targets: [Target]) -> [Target] {
    for target in targets { target.path = "\(place)/\(name)/\(target.name)" }
    return targets
}
