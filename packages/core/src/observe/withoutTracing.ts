import type { TracingContext } from './tracing.ts'

interface ContextManager {
  active(): TracingContext
  with<T>(context: TracingContext, run: () => T): T
}

/** The global symbol under which all copies of `@opentelemetry/api` 1.x store the registered providers. */
const API: unique symbol = Symbol.for('opentelemetry.js.api.1') as typeof API

/** The context key that turns tracing off in every OpenTelemetry SDK. Context keys are registered symbols. */
const SUPPRESSED = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

/**
 * Runs a function with OpenTelemetry tracing turned off. The instrumentations of `http`, `undici` and `fetch` would record the full URL in
 * their spans, and the URL contains the key. Costs one look-up if no OpenTelemetry SDK is registered.
 *
 * @param run - Called once, synchronously.
 * @returns The return value of `run`.
 * @see https://opentelemetry.io/docs/specs/otel/context/
 */
export function withoutTracing<T>(run: () => T): T {
  const manager = (globalThis as { [API]?: { context?: ContextManager } })[API]?.context
  return manager ? manager.with(manager.active().setValue(SUPPRESSED, true), run) : run()
}
