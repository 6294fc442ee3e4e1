// The packages that this target uses are there with its trait alone.
#if !(All || SignOn)
    #error("SluiceSignOn needs the trait SignOn of the package sluice: .package(…, traits: [\"SignOn\"])")
#endif
