import { batch as joinCalls, layer } from '../src/index.ts'
import type { Layer, TransportOptions } from '../src/index.ts'
import type { Target } from './adapters/subject.ts'

/** Ends every call by one signal, with its reason: for libraries that take no signal with a call. */
const endedBy = (signal: AbortSignal): Layer =>
  layer((request) => (args, options) => {
    const ended = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    return Promise.race([request(args, options), ended])
  })

/** The options that a user of Keyrail would give for a target: the defaults, but for what the target says. */
export function targetOptions({ origin, key, chainId, batch, timeoutMs, signal }: Target): TransportOptions {
  return {
    baseUrl: origin,
    apiKey: key,
    ...(chainId === undefined ? {} : { chainId }),
    ...(batch ? { batch: joinCalls() } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal ? { layers: [endedBy(signal)] } : {}),
  }
}
