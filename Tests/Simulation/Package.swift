// swift-tools-version: 6.2
import PackageDescription

// Plays simulations in a release build: `make simulate`, and `make test` with 2,000 seeds. A package of its own, so that
// it builds nothing but the core, the SQLite store and the simulator.
let package = Package(
    name: "sluice-simulation",
    traits: [.trait(name: "PlantedFaults", description: "Builds the engine with its deliberate faults")],
    dependencies: [
        .package(
            name: "sluice", path: "../..",
            traits: [.trait(name: "PlantedFaults", condition: .when(traits: ["PlantedFaults"]))])
    ],
    targets: [
        .executableTarget(
            name: "simulate",
            dependencies: [
                .product(name: "SluiceCore", package: "sluice"),
                .product(name: "SluiceSQLite", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
