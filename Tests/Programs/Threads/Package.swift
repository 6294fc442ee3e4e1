// swift-tools-version: 6.2
import PackageDescription

// Has many threads use one context and its plugins at once, for ThreadSanitizer to watch: `make threads`. A package of
// its own, so that the sanitizer watches all that it is built of, and nothing else is built for it.
let package = Package(
    name: "sluice-threads",
    dependencies: [
        .package(name: "sluice", path: "../../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "threads",
            dependencies: [
                "CMutexNotes",
                .product(name: "SluiceCore", package: "sluice"),
                .product(name: "SluiceLua", package: "sluice"),
                .product(name: "SluiceSQLite", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // The same of the library for C, in C.
        .executableTarget(
            name: "cthreads", dependencies: ["CMutexNotes", .product(name: "sluice-c", package: "sluice")]),
        .target(name: "CMutexNotes"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where !["CMutexNotes", "cthreads"].contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}
