// swift-tools-version: 6.2
import PackageDescription

// Programs for libFuzzer, whose runtime brings their main function: `swift build --sanitize fuzzer`, as `make fuzz`
// does. They only pass the bytes on; what must hold is in Sources/SluiceTesting/Fuzz, where tests use it too.
let package = Package(
    name: "sluice-fuzz",
    dependencies: [.package(name: "sluice", path: "../..")],
    targets: ["odata", "json", "wire"].map { name in
        .executableTarget(
            name: "fuzz-\(name)",
            dependencies: [.product(name: "SluiceTesting", package: "sluice")],
            swiftSettings: [
                .unsafeFlags(["-parse-as-library"]),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ])
    },
    swiftLanguageModes: [.v6]
)
