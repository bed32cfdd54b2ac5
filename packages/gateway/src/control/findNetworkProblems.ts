import type { Network } from '../lib/network.ts'
import type { FieldProblem } from './apiErrors.ts'
import type { Deployment } from './controlOptions.ts'

/** Most names in a message. */
const maxListed = 20

/** The problem of a field with a network that the service does not have. */
export const toNetworkProblem = (field: string, networks: Deployment['networks']): FieldProblem => {
  const names = Object.keys(networks)
  const listed = names.slice(0, maxListed).join(', ')
  return { field, fix: `must be ${names.length > 1 ? 'one of ' : ''}${listed}${names.length > maxListed ? ', …' : ''}` }
}

/**
 * Finds the problems of an app's networks.
 * @param given.before - Networks that the app already has. The service may no longer have them.
 */
export const findNetworkProblems = (
  given: { readonly networks: readonly Network[] | undefined; readonly before?: readonly Network[] },
  networks: Deployment['networks'],
): readonly FieldProblem[] =>
  given.networks?.every((name) => Object.hasOwn(networks, name) || given.before?.includes(name)) === false
    ? [toNetworkProblem('networks', networks)]
    : []
