// Marked, so that bundles without it leave it out.
const resolved = /* @__PURE__ */ Promise.resolve()

/**
 * Runs a function as a microtask. Not by `queueMicrotask`: fake timers replace that, Jest's by default, and the function would never run.
 *
 * @param run - Must not throw.
 */
export function defer(run: () => void): void {
  void resolved.then(run)
}
