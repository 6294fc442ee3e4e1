// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sluice-benchmarks",
    dependencies: [
        .package(name: "sluice", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    ],
    targets: [
        // What Sluice is compared with: C over libsqlite3, jansson, Lua, libpq and libcurl, and nothing else.
        .target(
            name: "CFloor",
            linkerSettings: [
                .linkedLibrary("sqlite3"), .linkedLibrary("jansson"), .linkedLibrary("lua5.4"), .linkedLibrary("pq"),
                .linkedLibrary("curl"),
            ]),
        // C over libsluice's header: what the calls of another language cost.
        .executableTarget(name: "abi", dependencies: [.product(name: "sluice-c", package: "sluice")]),
        // The same on SQLCipher, which is found where programs find it: as a program of its own.
        .executableTarget(
            name: "cipher-floor", path: "Sources/CipherFloor", cSettings: [.headerSearchPath("../CFloor/include")],
            linkerSettings: [.linkedLibrary("jansson"), .unsafeFlags(["-Xlinker", "-l:libsqlcipher.so.1"])]),
        .executableTarget(
            name: "bench",
            dependencies: [
                "CFloor",
                .product(name: "SluiceBackend", package: "sluice"),
                .product(name: "SluiceCore", package: "sluice"),
                .product(name: "SluiceHTTP", package: "sluice"),
                .product(name: "SluiceLua", package: "sluice"),
                .product(name: "SluiceSQLite", package: "sluice"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
