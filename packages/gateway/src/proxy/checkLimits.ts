import { defaultLimits } from './gatewayOptions.ts'
import type { GatewayLimits, NetworkLimits } from './gatewayOptions.ts'
import { checkInteger, getMembers, maxMs } from './checkOption.ts'
import { describeUnknownMethod, isWeightedMethod, maxWeight, normalizeWeights } from './method/weights.ts'
import type { MethodWeights } from './method/weights.ts'

/** A body becomes one string, and Node's longest string has 512 MiB. */
const maxBytes = 256 * 1024 * 1024

const maximums: Readonly<Record<keyof GatewayLimits, number>> = {
  maxBodyBytes: maxBytes,
  maxBatchCalls: 100_000,
  maxJsonDepth: 1_000,
  maxResponseBytes: maxBytes,
  maxBufferedBytes: Number.MAX_SAFE_INTEGER,
  upstreamTimeoutMs: maxMs,
  headersTimeoutMs: maxMs,
  requestTimeoutMs: maxMs,
  writeTimeoutMs: maxMs,
  maxConnections: 1_000_000,
  maxCacheBytes: 64 * maxBytes,
  maxFilters: 100_000,
}

/** The minimums that are not 1. */
const minimums: Readonly<Partial<Record<keyof GatewayLimits, number>>> = { maxCacheBytes: 0, maxJsonDepth: 8 }

const networkLimits: readonly (keyof NetworkLimits)[] = [
  'maxBatchCalls',
  'maxResponseBytes',
  'upstreamTimeoutMs',
  'maxCacheBytes',
  'maxFilters',
]

type CheckLimit = (name: keyof GatewayLimits, defaultValue: number) => number

const createCheck = (given: unknown, option: string, known: readonly string[]): CheckLimit => {
  // Only `undefined` means a missing object: null is a mistake.
  const members = getMembers(given === undefined ? {} : given, option, known)
  return (name, defaultValue) => {
    const value = members[name]
    return value === undefined ? defaultValue : checkInteger(value, `${option}.${name}`, maximums[name], minimums[name])
  }
}

/** Checks the limits of a gateway, and fills in the defaults. @throws {TypeError} that names the limit. */
export const checkLimits = (given: unknown): Required<GatewayLimits> => {
  const check = createCheck(given, 'limits', Object.keys(defaultLimits))
  const requestTimeoutMs = check('requestTimeoutMs', defaultLimits.requestTimeoutMs)
  const headersTimeoutMs = check('headersTimeoutMs', Math.min(defaultLimits.headersTimeoutMs, requestTimeoutMs))
  if (headersTimeoutMs > requestTimeoutMs)
    throw new TypeError('limits.headersTimeoutMs must be at most limits.requestTimeoutMs, which includes it')
  return {
    maxBodyBytes: check('maxBodyBytes', defaultLimits.maxBodyBytes),
    maxJsonDepth: check('maxJsonDepth', defaultLimits.maxJsonDepth),
    maxBufferedBytes: check('maxBufferedBytes', defaultLimits.maxBufferedBytes),
    headersTimeoutMs,
    requestTimeoutMs,
    writeTimeoutMs: check('writeTimeoutMs', defaultLimits.writeTimeoutMs),
    maxConnections: check('maxConnections', defaultLimits.maxConnections),
    ...checkShared(check, defaultLimits),
  }
}

/**
 * Checks the limits of a network, and fills in those of the gateway.
 * @param option - Its name, for messages.
 * @throws {TypeError} that names the limit.
 */
export const checkNetworkLimits = (
  given: unknown,
  option: string,
  defaults: Required<NetworkLimits>,
): Required<NetworkLimits> => checkShared(createCheck(given, option, networkLimits), defaults)

const checkShared = (check: CheckLimit, defaults: Required<NetworkLimits>): Required<NetworkLimits> => ({
  maxBatchCalls: check('maxBatchCalls', defaults.maxBatchCalls),
  maxResponseBytes: check('maxResponseBytes', defaults.maxResponseBytes),
  upstreamTimeoutMs: check('upstreamTimeoutMs', defaults.upstreamTimeoutMs),
  maxCacheBytes: check('maxCacheBytes', defaults.maxCacheBytes),
  maxFilters: check('maxFilters', defaults.maxFilters),
})

/**
 * Checks weights, and removes those of 1.
 * @param option - Its name, for messages.
 * @throws {TypeError} that names the option.
 */
export const checkWeights = (weights: unknown, option: string): MethodWeights => {
  const entries = typeof weights === 'object' && weights !== null ? Object.entries(weights) : undefined
  const isValid = ([, weight]: [string, unknown]): boolean =>
    Number.isSafeInteger(weight) && (weight as number) >= 1 && (weight as number) <= maxWeight
  if (entries === undefined || !entries.every(isValid))
    throw new TypeError(`${option} must be an object of whole numbers from 1 to ${maxWeight}, by method`)
  const unknown = entries.find(([name]) => !isWeightedMethod(name))
  if (unknown !== undefined) throw new TypeError(`${option} ${describeUnknownMethod(unknown[0])}`)
  return normalizeWeights(Object.fromEntries(entries) as Record<string, number>)
}
