// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "mixed-mode",
    dependencies: [
        // In a copy of this folder: .package(url: "…/sluice", from: "0.1.0")
        .package(name: "sluice", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "mixed-mode",
            dependencies: [
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceBackend", package: "sluice"),
                .product(name: "SluiceStores", package: "sluice"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources")
    ])
