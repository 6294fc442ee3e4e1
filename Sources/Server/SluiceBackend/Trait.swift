// The packages that this target uses are there with its trait alone.
#if !All
    #error("SluiceBackend needs the trait All of the package sluice: .package(…, traits: [\"All\"])")
#endif
