public import SluiceCore

extension Simulation {
    /// The names of the deliberate faults that the engine has in a build with the trait `PlantedFaults`; none in
    /// others.
    public static var plantedFaults: [String] {
        #if PlantedFaults
            PlantedFault.allCases.map(\.rawValue)
        #else
            []
        #endif
    }

    /// Turns one of the engine's deliberate faults on, for all simulations of this process.
    ///
    /// - Parameter name: which one; nil turns all off.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that is none, and in a build without the trait.
    public static func plant(_ name: String?) throws(SluiceError) {
        #if PlantedFaults
            guard let name, let fault = PlantedFault(rawValue: name) else {
                if let name { throw SluiceError(.invalidArgument, "there is no planted fault \(name)") }
                return SluiceCore.plant(nil)
            }
            SluiceCore.plant(fault)
        #else
            if name != nil { throw SluiceError(.invalidArgument, "this build has no planted faults") }
        #endif
    }
}
