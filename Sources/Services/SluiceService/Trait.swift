// The packages that this target uses are there with its trait alone.
#if !(All || Service)
    #error("SluiceService needs the trait Service of the package sluice: .package(…, traits: [\"Service\"])")
#endif
