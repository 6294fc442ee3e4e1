// swift-tools-version: 6.2
import PackageDescription

// Plays simulations and storage faults in a release build: `make simulate`, `make storage-faults`, and `make test` with
// 2,000 seeds. A package of its own, so that it builds nothing but the core, the SQLite store and what fails them.
let package = Package(
    name: "sluice-simulation",
    dependencies: [
        .package(name: "sluice", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "simulate",
            dependencies: [
                .product(name: "SluiceCore", package: "sluice"),
                .product(name: "SluiceSQLite", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ]),
        .executableTarget(
            name: "storage",
            dependencies: [
                .product(name: "SluiceTesting", package: "sluice"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}
