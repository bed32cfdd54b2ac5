import type { NetworksView } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { findNearestName } from '@keyrail/core/internal'
import { CliError, wrongUsage } from '../cliError.ts'
import { readNetwork } from '../commands/endpoint.ts'
import type { ControlApiClient } from './controlApi.ts'

/** Most names in a message. */
const maxListed = 20

const createUnknownError = (what: string, text: string, names: readonly string[]): CliError => {
  const meant = findNearestName(text, names)
  const listed = names.slice(0, maxListed).join(', ')
  return new CliError(`this service has no ${what} ${text}`, {
    hint: `${meant === undefined ? '' : `did you mean ${meant}? `}It has ${listed}${names.length > maxListed ? `, and ${names.length - maxListed} more: run keyrail networks` : ''}`,
  })
}

/**
 * Reads the names of `--network`, separated by commas.
 *
 * @returns Undefined without the option.
 * @throws {CliError} exit code 2 for anything but names.
 */
export function readNetworkNames(given: ReadArguments): readonly string[] | undefined {
  const names = given.texts('network').flatMap((text) => text.split(','))
  if (names.length === 0) return undefined
  return [...new Set(names.map((name) => readNetwork(name.trim()) ?? ''))]
}

/** Finds the name of a network by its name or an alias. @throws {CliError} that lists the networks, if there is no such network. */
function findNetwork({ networks }: NetworksView, text: string): NetworksView['networks'][number] {
  const found =
    networks.find(({ network }) => network === text) ?? networks.find(({ aliases }) => aliases.includes(text))
  if (found !== undefined) return found
  throw createUnknownError(
    'network',
    text,
    networks.map(({ network }) => network),
  )
}

/** Finds the names of networks by their names or aliases. @throws {CliError} that lists the networks, if one does not exist. */
export async function findNetworks(api: ControlApiClient, names: readonly string[]): Promise<readonly string[]> {
  const offered = await api('GET /api/networks', {})
  return [...new Set(names.map((name) => findNetwork(offered, name).network))]
}

/**
 * Finds the chain and the networks of a new app.
 *
 * @param given - `--chain` (default: the chain of the first network, or the only chain of the service) and `--network`.
 * @param offered - What the service offers.
 * @returns `networks` is undefined for all networks of the chain.
 * @throws {CliError} that lists what exists, if the chain or a network does not, or the chain is ambiguous.
 */
export function chooseChain(
  given: ReadArguments,
  offered: NetworksView,
): { readonly chain: string; readonly networks: readonly string[] | undefined } {
  const networks = readNetworkNames(given)?.map((name) => findNetwork(offered, name))
  const text = given.text('chain')
  const names = offered.chains.map(({ chain }) => chain)
  const chosen =
    text === undefined
      ? (networks?.[0]?.chain ?? (names.length === 1 ? names[0] : undefined))
      : offered.chains.find(({ chain, title, aliases }) =>
          [chain, title, ...aliases].some((one) => one.toLowerCase() === text.toLowerCase()),
        )?.chain
  if (chosen === undefined && text !== undefined) throw createUnknownError('chain', text, names)
  if (chosen === undefined) {
    throw wrongUsage(
      'this service has several chains, and the app needs one',
      `add --chain with one of ${names.slice(0, maxListed).join(', ')}, or --network`,
    )
  }
  return { chain: chosen, networks: networks && [...new Set(networks.map(({ network }) => network))] }
}
