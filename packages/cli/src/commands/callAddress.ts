import { readFileSync } from 'node:fs'
import type { AddressOptions, Network } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'

type Environment = Readonly<Record<string, string | undefined>>

const ways =
  'give --base-url URL (an app) or --rpc-url URL (an API key) with the key in KEYRAIL_API_KEY or --key-file FILE; or the whole address in KEYRAIL_URL or --url'

function readKeyFile(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw wrongUsage(`the key file ${path} cannot be read (${reason})`, 'keyrail dev keeps one in its folder, keys/app')
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length === 1) return (lines[0] as string).trim()
  throw wrongUsage(
    `the key file ${path} ${lines.length === 0 ? 'is empty' : 'holds more than one line'}`,
    'it must hold one key and nothing else',
  )
}

function readNetwork(text: string | undefined): Network | undefined {
  if (text === undefined || text === 'testnet' || text === 'mainnet') return text
  throw wrongUsage('--network is unknown', 'it is testnet or mainnet')
}

function forNetwork(name: string, url: string, network: Network | undefined): string {
  if (url.includes('{network}')) {
    if (network === undefined) throw wrongUsage(`${name} leaves the network open`, 'add --network testnet or mainnet')
    return url.replaceAll('{network}', network)
  }
  const other = network === 'testnet' ? 'mainnet' : 'testnet'
  if (network !== undefined && new RegExp(`/${other}$`).test(url)) {
    throw wrongUsage(
      `--network says ${network} and ${name} ends with /${other}`,
      `drop --network, or write {network} in place of ${other}`,
    )
  }
  return url
}

/**
 * Finds out where `keyrail call` sends its call. What is given on the command line wins over the environment.
 *
 * @param given - The command's arguments.
 * @param environment - KEYRAIL_URL and KEYRAIL_API_KEY are read.
 * @throws {CliError} exit code 2 where the address is missing, given twice or lacks its key.
 */
export function callAddress(given: ReadArguments, environment: Environment): AddressOptions {
  const network = readNetwork(given.text('network'))
  const ownWays = (['url', 'base-url', 'rpc-url'] as const).filter((name) => given.text(name) !== undefined)
  if (ownWays.length > 1)
    throw wrongUsage(`${ownWays.map((name) => `--${name}`).join(' and ')} exclude each other`, ways)
  const way = ownWays[0]
  if (way === 'base-url' || way === 'rpc-url') {
    const url = forNetwork(`--${way}`, given.text(way) as string, network)
    const keyFile = given.text('key-file')
    const apiKey = keyFile === undefined ? environment['KEYRAIL_API_KEY'] : readKeyFile(keyFile)
    if (!apiKey) throw wrongUsage(`--${way} needs a key`, 'put it in KEYRAIL_API_KEY, or in a file named by --key-file')
    return way === 'base-url' ? { baseUrl: url, apiKey } : { rpcUrl: url, apiKey }
  }
  if (given.text('key-file') !== undefined) {
    throw wrongUsage(
      '--key-file needs an address to go with',
      'give --base-url URL (an app) or --rpc-url URL (an API key)',
    )
  }
  const url = given.text('url') ?? environment['KEYRAIL_URL']
  if (!url) throw wrongUsage('there is no address to call', ways)
  return { url: forNetwork(way === undefined ? 'KEYRAIL_URL' : '--url', url, network) }
}
