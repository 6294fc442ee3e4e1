// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "append-store",
    products: [.library(name: "AppendStore", targets: ["AppendStore"])],
    dependencies: [
        // In a copy of this folder: .package(url: "…/sluice", from: "0.1.0", traits: [])
        .package(name: "sluice", path: "../..")
    ],
    targets: [
        .target(
            name: "AppendStore", dependencies: [.product(name: "SluiceCore", package: "sluice")], path: "Sources"),
        .testTarget(
            name: "AppendStoreTests",
            dependencies: [
                "AppendStore", .product(name: "SluiceCore", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ],
            path: "Tests"),
    ])
