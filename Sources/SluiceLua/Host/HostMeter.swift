internal import CLuaSandbox

/// Charges the call whose script runs for what the host does for it.
package struct HostMeter {
    /// The machine; nil for none, where nothing is counted.
    let vm: OpaquePointer?

    /// Spends fuel before work is done that it stands for.
    ///
    /// - Throws: ``ScriptFailure`` of kind `fuel` where the call has spent what it may: it is over, whatever is answered.
    func charge(_ fuel: Int) throws(ScriptFailure) {
        guard let vm, !sluice_vm_charge(vm, Int64(fuel)) else { return }
        throw ScriptFailure(.fuel, "the call has spent its fuel")
    }
}
