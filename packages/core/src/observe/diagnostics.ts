import { createObserver } from './observe.ts'
import type { ObserverFeature } from './observe.ts'
import type { TransportEvent, TransportListener } from './transportEvent.ts'

const types: readonly TransportEvent['type'][] = ['request', 'attempt', 'retry', 'reroute', 'response', 'failure']

/** The members used of a channel of `node:diagnostics_channel`. */
interface Channel {
  readonly hasSubscribers: boolean
  readonly publish: (message: unknown) => void
}

/** The member used of `globalThis`: browsers have no `process`. */
interface Platform {
  readonly process?: {
    readonly getBuiltinModule?: (
      name: 'node:diagnostics_channel',
    ) => { readonly channel: (name: string) => Channel } | undefined
  }
}

/** The value of the `diagnostics` option of `createTransport`. Created by {@link diagnostics}. */
export type DiagnosticsFeature = ObserverFeature

/**
 * Publishes events on the channels `keyrail:request`, `keyrail:attempt`, `keyrail:retry`, `keyrail:reroute`, `keyrail:response` and
 * `keyrail:failure` of `node:diagnostics_channel`. Each message is a {@link TransportEvent}. Messages are published in a microtask, so a
 * subscriber cannot interrupt a call. A channel without subscribers costs nothing. Does nothing on platforms without that module.
 *
 * @returns The value of the `diagnostics` option.
 * @example
 * // With: import diagnosticsChannel from 'node:diagnostics_channel'
 * // diagnosticsChannel.subscribe('keyrail:failure', (event) => console.warn(event))
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', diagnostics: diagnostics() })
 * @see https://nodejs.org/api/diagnostics_channel.html
 */
export function diagnostics(): DiagnosticsFeature {
  return Object.freeze({ watch: createDiagnosticsListener, createObserver })
}

// Gets the module from `process` because an import would break bundles for browsers.
function createDiagnosticsListener(): TransportListener | undefined {
  const channels = (globalThis as Platform).process?.getBuiltinModule?.('node:diagnostics_channel')
  if (!channels) return undefined
  const channelByType = Object.fromEntries(types.map((type) => [type, channels.channel(`keyrail:${type}`)])) as Record<
    TransportEvent['type'],
    Channel
  >
  const all = Object.values(channelByType)
  const notify = (event: TransportEvent): void => {
    const channel = channelByType[event.type]
    if (!channel.hasSubscribers) return
    // A copy, because a hook can change the event it receives.
    const copy = { ...event }
    queueMicrotask(() => channel.publish(copy))
  }
  const wants: TransportListener['wants'] = (type) => channelByType[type].hasSubscribers
  const callListener = { notify }
  return {
    isListening: () => {
      for (const channel of all) if (channel.hasSubscribers) return true
      return false
    },
    wants,
    startCall: (call) => {
      if (wants('request')) notify({ type: 'request', ...call })
      return callListener
    },
  }
}
