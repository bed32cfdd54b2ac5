import type { NetworksView } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { sendRequest } from '../control/controlApi.ts'
import { readServiceUrl } from '../control/readServiceUrl.ts'
import { formatTable } from '../output/formatTable.ts'
import { print, printData } from '../output/print.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import { getStyle } from '../output/style.ts'

/** Whether a network's title, names, symbol, chain or chain id contains a text. */
const matches = ({ title, network, symbol, chain, aliases, chainId }: NetworksView['networks'][number], text: string) =>
  [title, network, symbol, chain, String(chainId), ...aliases].some((term) =>
    term.toLowerCase().includes(text.toLowerCase()),
  )

/**
 * `keyrail networks`: lists the networks of a service. It needs no token.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the service rejects the request; 3 without a response.
 */
export async function networks(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0)
    throw wrongUsage('keyrail networks takes no arguments, only options', 'use --search TEXT to filter')
  const { origin } = readServiceUrl(given, process.env)
  const { body } = await sendRequest(origin, { name: 'GET /api/networks' }, undefined)
  const offered = body as NetworksView
  const search = given.text('search')
  const found = offered.networks.filter((network) => search === undefined || matches(network, search))
  if (given.flag('json')) {
    const chains = offered.chains.filter(({ chain }) => found.some((network) => network.chain === chain))
    await printData(JSON.stringify({ chains, networks: found }))
    return exitCodes.ok
  }
  if (found.length === 0) {
    await print('No networks found')
    return exitCodes.ok
  }
  const style = getStyle(process.stdout)
  await print(
    formatTable([
      ['NETWORK', 'TITLE', 'CHAIN', 'CHAIN ID', 'SYMBOL', 'URL'].map(style.faint),
      ...found.map(({ network, title, chain, chainId, symbol, url }) =>
        [network, title, chain, String(chainId), symbol, url].map((cell) => stripControlCharacters(cell)),
      ),
    ]),
  )
  return exitCodes.ok
}
