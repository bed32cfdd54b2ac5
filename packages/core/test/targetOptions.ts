import { batch as joinCalls, layer } from '../src/index.ts'
import type { Layer, TransportOptions } from '../src/index.ts'
import type { Target } from './adapters/subject.ts'

/** A layer that ends every call when a signal is aborted: for libraries whose calls accept no signal. */
const createAbortLayer = (signal: AbortSignal): Layer =>
  layer((request) => (args, options) => {
    const ended = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    return Promise.race([request(args, options), ended])
  })

/** The transport options for a target: the defaults, except for the options of the target. */
export function targetOptions({ origin, key, chainId, batch, timeoutMs, signal }: Target): TransportOptions {
  return {
    baseUrl: origin,
    apiKey: key,
    ...(chainId === undefined ? {} : { chainId }),
    ...(batch ? { batch: joinCalls() } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal ? { layers: [createAbortLayer(signal)] } : {}),
  }
}
