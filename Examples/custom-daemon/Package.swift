// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "custom-daemon",
    dependencies: [
        // In a copy of this folder: .package(url: "…/sluice", from: "0.1.0")
        .package(name: "sluice", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "custom-daemon",
            dependencies: [
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceLua", package: "sluice"),
                .product(name: "SluiceService", package: "sluice"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Sources")
    ])
