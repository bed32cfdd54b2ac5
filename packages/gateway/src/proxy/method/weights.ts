import { findNearestName } from '@keyrail/core/internal'
import { methods } from '../../lib/methods.ts'
import type { Network } from '../../lib/network.ts'
import { notificationMethod } from '../../usage/metering/meter.ts'
/**
 * How many requests a call of a method counts as, in rates and quotas. Methods that are left out count as 1, and notifications of subscriptions
 * (`eth_subscription`), which are charged to quotas only, as 0.
 */
export type MethodWeights = Readonly<Record<string, number>>

/** The largest weight. */
export const maxWeight = 1_000_000

/** The methods that can have a weight: all that a service can offer, also while `services` turns them off. */
export const weightedMethods: readonly string[] = [
  ...[...methods].filter(([, { service }]) => service !== 'development').map(([name]) => name),
  notificationMethod,
]

const known: ReadonlySet<string> = new Set(weightedMethods)

/** Whether a method can have a weight. */
export const isWeightedMethod = (name: string): boolean => known.has(name)

/**
 * Describes an unknown method for an error.
 * @param name - Shown only if it looks like the name of a method, because it may be a misplaced secret.
 * @example
 * describeUnknownMethod('eth_getLog') // 'has an unknown method "eth_getLog": did you mean "eth_getLogs"?'
 */
export const describeUnknownMethod = (name: string): string => {
  const nearest = findNearestName(name, weightedMethods)
  const shown = nearest !== undefined || /^[A-Za-z_]{1,40}$/.test(name) ? `"${name}"` : '(name hidden)'
  const fix = nearest === undefined ? 'use full names, such as "eth_getLogs"' : `did you mean "${nearest}"?`
  return `has an unknown method ${shown}: ${fix}`
}

/**
 * Returns the highest weight: the smallest burst with which a call of every method can be granted.
 * @param networks - Networks with weights of their own.
 */
export const getHighestWeight = (
  weights: MethodWeights = {},
  networks: Readonly<Record<Network, { readonly weights: MethodWeights }>> = {},
): number => Math.max(1, ...[{ weights }, ...Object.values(networks)].flatMap((own) => Object.values(own.weights)))

/** The weight of a method that was given none. */
export const getDefaultWeight = (method: string): number => (method === notificationMethod ? 0 : 1)

/** Removes the weights that are the default, and puts the highest first. */
export const normalizeWeights = (weights: MethodWeights = {}): MethodWeights =>
  Object.fromEntries(
    Object.entries(weights)
      .filter(([method, weight]) => weight !== getDefaultWeight(method))
      .toSorted(([, one], [, other]) => other - one),
  )
