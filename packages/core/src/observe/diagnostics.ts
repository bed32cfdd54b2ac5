import { createObserver } from './observe.ts'
import type { ObserverFeature } from './observe.ts'
import type { TransportEvent, Watch } from './transportEvent.ts'

const types: readonly TransportEvent['type'][] = ['request', 'attempt', 'retry', 'reroute', 'response', 'failure']

/** What is used of a channel of `node:diagnostics_channel`. */
interface Channel {
  readonly hasSubscribers: boolean
  readonly publish: (message: unknown) => void
}

/** What is used of `process`, where there is one. */
interface Platform {
  readonly process?: {
    readonly getBuiltinModule?: (
      name: 'node:diagnostics_channel',
    ) => { readonly channel: (name: string) => Channel } | undefined
  }
}

/** What the `diagnostics` option of `createTransport` takes. Created by {@link diagnostics}. */
export type DiagnosticsFeature = ObserverFeature

/**
 * Publishes events on the channels `keyrail:request`, `keyrail:attempt`, `keyrail:retry`, `keyrail:reroute`, `keyrail:response` and
 * `keyrail:failure` of `node:diagnostics_channel`, in a microtask. Does nothing on platforms without that module.
 *
 * @example
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', diagnostics: diagnostics() })
 * @see https://nodejs.org/api/diagnostics_channel.html
 */
export function diagnostics(): DiagnosticsFeature {
  return Object.freeze({ watch: watchByDiagnostics, createObserver })
}

// Gets the module from the process, because an import would break bundles for browsers.
function watchByDiagnostics(): Watch | undefined {
  const channels = (globalThis as Platform).process?.getBuiltinModule?.('node:diagnostics_channel')
  if (!channels) return undefined
  const channelOf = Object.fromEntries(types.map((type) => [type, channels.channel(`keyrail:${type}`)])) as Record<
    TransportEvent['type'],
    Channel
  >
  const all = Object.values(channelOf)
  const tell = (event: TransportEvent): void => {
    const channel = channelOf[event.type]
    if (!channel.hasSubscribers) return
    // A hook may change its own.
    const own = { ...event }
    queueMicrotask(() => channel.publish(own))
  }
  const wants: Watch['wants'] = (type) => channelOf[type].hasSubscribers
  const watcher = { tell }
  return {
    listens: () => {
      for (const channel of all) if (channel.hasSubscribers) return true
      return false
    },
    wants,
    begin: (call) => {
      if (wants('request')) tell({ type: 'request', ...call })
      return watcher
    },
  }
}
