// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sluice",
    products: [
        .library(name: "Sluice", targets: ["Sluice"]),
        .library(name: "SluiceCore", targets: ["SluiceCore"]),
        .library(name: "SluiceOData", targets: ["SluiceOData"]),
        .library(name: "SluiceStores", targets: ["SluiceStores"]),
        .library(name: "SluiceHTTP", targets: ["SluiceHTTP"]),
        .library(name: "SluiceService", targets: ["SluiceService"]),
        .library(name: "SluicePredicate", targets: ["SluicePredicate"]),
        .library(name: "SluiceSQLite", targets: ["SluiceSQLite"]),
        .library(name: "SluiceBackend", targets: ["SluiceBackend"]),
        .library(name: "SluiceDaemon", targets: ["SluiceDaemon"]),
        .library(name: "SluiceLua", targets: ["SluiceLua"]),
        .library(name: "SluicePluginTools", targets: ["SluicePluginTools"]),
        .library(name: "SluiceTesting", targets: ["SluiceTesting"]),
        .executable(name: "sluice", targets: ["SluiceCLI"]),
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
    targets: [
        // C: libraries of the system, and the SQLite API as a table of functions.
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        // C: Lua 5.4 for scripts that nobody vouches for. The one target that knows Lua.
        .target(name: "CLuaSandbox", linkerSettings: [.linkedLibrary("lua5.4"), .linkedLibrary("jansson")]),

        // The core, in three layers: each knows those above it in this list only.
        .target(name: "SluiceBase", dependencies: ["CJansson"]),
        .target(
            name: "SluiceWire",
            dependencies: ["SluiceBase", .product(name: "HTTPTypes", package: "swift-http-types")]),
        .target(
            name: "SluiceSync",
            dependencies: [
                "SluiceBase", "SluiceWire",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "SluiceCore", dependencies: ["SluiceBase", "SluiceSync", "SluiceWire"]),
        // OData v2 and v4: what a service says of itself, its values, and its wires.
        .target(
            name: "SluiceOData",
            dependencies: [
                "SluiceBase", "SluiceWire", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(
            name: "SluiceHTTP",
            dependencies: [
                "SluiceCore",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        // Sync as a service of a host's own daemon: no server, no plugins, no configuration.
        .target(
            name: "SluiceService",
            dependencies: [
                "SluiceCore",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .target(name: "SluicePredicate", dependencies: ["SluiceCore"]),
        // One interface to a service's data online and offline: defining requests, and which requests they cover.
        .target(
            name: "SluiceStores",
            dependencies: [
                "SluiceBase", "SluiceOData", "SluiceSync", "SluiceWire",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(name: "SluiceSQLite", dependencies: ["SluiceCore", "CSQLite"]),
        // YAML, read strictly: what the backend's and the command's configurations have in common.
        .target(name: "SluiceConfiguration", dependencies: ["SluiceCore", .product(name: "Yams", package: "Yams")]),
        // Plugins in Lua: bundles, the deployment's policy, and the host that runs them.
        .target(
            name: "SluiceLua",
            dependencies: [
                "CJansson", "CLuaSandbox", "SluiceConfiguration", "SluiceCore",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // What authors of plugins use by the command line: checks, fixtures, specs, stubs, packs. No embedder links it.
        .target(
            name: "SluicePluginTools",
            dependencies: [
                "CJansson", "CLuaSandbox", "SluiceConfiguration", "SluiceCore", "SluiceLua",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // Connections to PostgreSQL, through libpq.
        .target(name: "SluicePostgres", dependencies: ["CLibPQ", "SluiceCore"]),
        .target(
            name: "SluiceBackend",
            dependencies: [
                "SluiceConfiguration", "SluiceCore", "SluiceOData", "SluicePostgres", "SluiceSQLite",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .target(
            name: "SluiceTesting",
            dependencies: [
                "SluiceCore", "SluiceOData", "SluiceSQLite", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(
            name: "Sluice",
            dependencies: [
                "SluiceCore", "SluiceHTTP", "SluiceOData", "SluicePredicate", "SluiceSQLite",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // The daemon: configuration, sessions, the control socket, the gateway and the inspector.
        .target(
            name: "SluiceDaemon",
            dependencies: [
                "Sluice", "SluiceBackend", "SluiceConfiguration", "SluiceLua", "SluicePluginTools", "SluiceService",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("Inspector/Page/index.html"), .embedInCode("Inspector/Page/inspector.css"),
                .embedInCode("Inspector/Page/inspector.js"), .embedInCode("Inspector/Page/dom.js"),
                .embedInCode("Inspector/Page/views.js"), .embedInCode("Inspector/Page/decisions.js"),
                .embedInCode("Inspector/Page/icon.svg"),
            ]),
        .executableTarget(
            name: "SluiceCLI",
            dependencies: [
                "Sluice", "SluiceBackend", "SluiceConfiguration", "SluiceDaemon", "SluiceLua", "SluicePluginTools",
                "SluiceTesting",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [.copy("Resources/movies.json")]),
        .executableTarget(
            name: "todo",
            dependencies: ["Sluice", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Examples/todo",
            exclude: ["README.md", "backend.yaml"]),
        .executableTarget(
            name: "custom-daemon",
            dependencies: [
                "Sluice", "SluiceLua", "SluiceService",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Examples/custom-daemon",
            exclude: ["README.md", "policy.yaml"]),
        .executableTarget(
            name: "mixed-mode",
            dependencies: [
                "Sluice", "SluiceBackend", "SluiceStores",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/mixed-mode",
            exclude: ["README.md"]),
        // Ends processes and storage in the middle of their work: for tests, and part of no product.
        .executableTarget(
            name: "torture",
            dependencies: [
                "Sluice", "SluiceTesting", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Torture"),
        // What several tests share and no user links: storage that fails, generated queries, what fuzzers check.
        .target(
            name: "SluiceTestSupport",
            dependencies: [
                "CJansson", "CSQLite", "CSQLiteFaults", "SluiceCore", "SluiceOData", "SluiceSQLite", "SluiceTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/Support"),
        // C: a file system for SQLite that fails where a test wants it to.
        .target(name: "CSQLiteFaults", dependencies: ["CSQLite"], path: "Tests/CSQLiteFaults"),

        .testTarget(
            name: "SluiceCoreTests",
            dependencies: [
                "CJansson", "SluiceCore", "SluiceSQLite", "SluiceTesting", "SluiceTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // C: Lua as it comes, which the sandbox's own functions are held against.
        .target(name: "LuaReference", path: "Tests/LuaReference", linkerSettings: [.linkedLibrary("lua5.4")]),
        .testTarget(name: "LuaSandboxTests", dependencies: ["CJansson", "CLuaSandbox", "LuaReference"]),
        .testTarget(
            name: "SluiceODataTests",
            dependencies: [
                "SluiceCore", "SluiceOData", "SluiceTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // With services that others wrote: .ci/peers starts them; without them its tests are skipped.
        .testTarget(
            name: "SluicePeerTests",
            dependencies: ["Sluice", .product(name: "HTTPTypes", package: "swift-http-types")],
            exclude: ["Peers"]),
        .testTarget(
            name: "SluicePredicateTests", dependencies: ["SluiceCore", "SluicePredicate", "SluiceSQLite"]),
        .testTarget(
            name: "SluiceSQLiteTests", dependencies: ["SluiceSQLite", "SluiceTesting", "SluiceTestSupport", "CSQLite"]),
        .testTarget(
            name: "SluiceStoresTests",
            dependencies: [
                "SluiceBackend", "SluiceBase", "SluiceCore", "SluiceOData", "SluiceSQLite", "SluiceStores",
                "SluiceTesting",
                "SluiceTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // A store as someone else would write it: it needs the core only.
        .target(
            name: "AppendStore", dependencies: ["SluiceCore"], path: "Examples/append-store", exclude: ["README.md"]),
        .testTarget(name: "AppendStoreTests", dependencies: ["AppendStore", "SluiceCore", "SluiceTesting"]),
        .testTarget(
            name: "SluiceLuaTests",
            dependencies: [
                "SluiceConfiguration", "SluiceCore", "SluiceLua", "SluicePluginTools", "SluiceTesting",
                "SluiceTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]),
        .testTarget(
            name: "SluiceHTTPTests",
            dependencies: [
                "SluiceHTTP", "SluiceSQLite", "SluiceTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "SluiceBackendTests",
            dependencies: [
                "SluiceBackend", "Sluice", "SluicePostgres", "SluiceTesting", "SluiceTestSupport",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "SluiceServiceTests",
            dependencies: [
                "Sluice", "SluiceService", "SluiceTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "SluiceDaemonTests",
            dependencies: [
                "SluiceBackend", "SluiceCore", "SluiceDaemon", "SluiceLua", "SluicePluginTools", "SluicePostgres",
                "SluiceTesting",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "SluiceCLITests",
            dependencies: [
                "SluiceCLI", "todo", "custom-daemon", "mixed-mode", "torture", "Sluice",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The engine for other languages: libsluice.so, with a header in C. It takes `@c`, which Swift has since 6.3.
#if compiler(>=6.3)
    package.products.append(.library(name: "sluice-c", type: .dynamic, targets: ["CSluice", "SluiceC"]))
    package.targets += [
        // C: the header, and nothing that runs.
        .target(name: "CSluice"),
        .target(
            name: "SluiceC",
            dependencies: ["CSluice", "SluiceCore", "SluiceHTTP", "SluiceLua", "SluiceOData", "SluiceSQLite"],
            exclude: ["exports.map", "sluice.pc.in"],
            linkerSettings: [
                // Exports what the header declares and nothing else: gold would list local symbols besides. The library is
                // never unloaded, because it has threads. Swift's own libraries are inside of it where SLUICE_STATIC is set:
                // `--static-swift-stdlib` of the package manager leaves libraries out.
                .unsafeFlags(
                    [
                        "-use-ld=lld",
                        "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/SluiceC/exports.map",
                        "-Xlinker", "-soname=libsluice.so", "-Xlinker", "-z", "-Xlinker", "nodelete",
                    ] + (Context.environment["SLUICE_STATIC"] == nil ? [] : ["-static-stdlib"]))
            ]),
        // Builds programs in C against the library as it is built, and runs them: it links no Swift of it.
        .testTarget(
            name: "SluiceCTests",
            dependencies: ["SluiceBackend", "SluiceCore", "SluiceTesting"],
            exclude: ["Programs"]),
    ]
#endif

// Programs that play for hours, each built in a folder and with flags of its own: .ci/release, .ci/fuzz. They are
// there with SLUICE_PROGRAMS=1, so that other builds do not link them.
if Context.environment["SLUICE_PROGRAMS"] != nil {
    package.targets += [
        .executableTarget(
            name: "simulate", dependencies: ["SluiceCore", "SluiceOData", "SluiceSQLite", "SluiceTesting"],
            path: "Tests/Simulation", exclude: ["planted.patch"]),
        .executableTarget(
            name: "storage",
            dependencies: ["SluiceTestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Tests/StorageFaults"),
    ]
    // libFuzzer has the main function of these.
    package.targets += ["address", "json", "metadata", "multipart", "odata", "wire"].map { name in
        .executableTarget(
            name: "fuzz-\(name)", dependencies: ["SluiceTestSupport"], path: "Tests/Fuzzing/\(name)",
            swiftSettings: [.unsafeFlags(["-parse-as-library"])])
    }
}

// What is optimised in debug builds too, with its assertions: the tests take half of the time so, and what plugins may spend
// is measured in time of the processor. `make` says so; a package that others depend on by its version may not have such flags.
let optimized =
    Context.environment["SLUICE_OPTIMIZE"] == nil
    ? [] : ["SluiceBase", "SluiceWire", "SluiceSync", "SluiceSQLite", "SluiceTesting", "SluiceLua", "CLuaSandbox"]
// One set of rules for every Swift target. Warnings are errors in continuous integration, not on a user's machine.
let targetsInC = ["CLuaSandbox", "CSluice", "CSQLite", "CSQLiteFaults", "LuaReference"]
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
    if Context.environment["CI"] == "true" {
        target.swiftSettings?.append(.treatAllWarnings(as: .error))
    }
    if optimized.contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
    }
}
for target in package.targets where targetsInC.contains(target.name) && optimized.contains(target.name) {
    target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"], .when(configuration: .debug))]
}
