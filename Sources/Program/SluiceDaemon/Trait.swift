// The packages that this target uses are there with its trait alone.
#if !All
    #error("SluiceDaemon needs the trait All of the package sluice: .package(…, traits: [\"All\"])")
#endif
