import type { EndpointUrlOptions } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'
import type { Network } from '../dev/devChains.ts'
import { printNote } from '../output/print.ts'
import { canPrompt, promptSecret } from '../secret/promptSecret.ts'
import type { PromptStreams } from '../secret/promptSecret.ts'
import { readSecretFile } from '../secret/readSecretFile.ts'

type Environment = Readonly<Record<string, string | undefined>>

const ways =
  'give --base-url URL (an app) or --rpc-url URL (an API key) with the key in KEYRAIL_API_KEY or --key-file FILE; or the whole address in KEYRAIL_URL or --url'
const keyFileWords = { name: 'key file', holds: 'key', hint: 'keyrail dev keeps one in its folder, keys/app' } as const

/** Reads `--network`; undefined stays undefined. @throws {CliError} exit code 2 for another name. */
export function readNetwork(text: string | undefined): Network | undefined {
  if (text === undefined || text === 'testnet' || text === 'mainnet') return text
  throw wrongUsage('--network is unknown', 'it is testnet or mainnet')
}

/** Puts the network into a URL that leaves it open. @throws {CliError} exit code 2 where the two do not go together. */
export function applyNetwork(name: string, url: string, network: Network | undefined): string {
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

interface Way {
  readonly kind: 'url' | 'base-url' | 'rpc-url'
  /** What it was given by, for errors. */
  readonly name: string
  readonly url: string
}

/** Where the address is said: on the command line, else in the environment. */
function wayOf(given: ReadArguments, environment: Environment): Way {
  const [first, second] = (['url', 'base-url', 'rpc-url'] as const).filter((name) => given.text(name) !== undefined)
  if (first !== undefined && second !== undefined) {
    throw wrongUsage(`--${first} and --${second} exclude each other`, ways)
  }
  const hasKeyFile = given.text('key-file') !== undefined
  if (first === 'url' && hasKeyFile) throw keyFileAlone()
  if (first !== undefined) return { kind: first, name: `--${first}`, url: given.text(first) as string }
  const { KEYRAIL_URL: whole, KEYRAIL_BASE_URL: base } = environment
  if (whole && !hasKeyFile) return { kind: 'url', name: 'KEYRAIL_URL', url: whole }
  if (base) return { kind: 'base-url', name: 'KEYRAIL_BASE_URL', url: base }
  throw hasKeyFile ? keyFileAlone() : wrongUsage('there is no address to call', ways)
}

const keyFileAlone = (): Error =>
  wrongUsage('--key-file needs an address to go with', 'give --base-url URL (an app) or --rpc-url URL (an API key)')

/**
 * Finds out where `keyrail call` sends its call. What is given on the command line wins over the environment.
 *
 * @param given - The command's arguments.
 * @param environment - KEYRAIL_URL, KEYRAIL_BASE_URL and KEYRAIL_API_KEY are read.
 * @throws {CliError} exit code 2 where the address is missing, given twice or lacks its key.
 */
export function readEndpoint(given: ReadArguments, environment: Environment): EndpointUrlOptions {
  const network = readNetwork(given.text('network'))
  const { kind, name, url: text } = wayOf(given, environment)
  const url = applyNetwork(name, text, network)
  if (kind === 'url') return { url }
  const keyFile = given.text('key-file')
  const apiKey = keyFile === undefined ? environment['KEYRAIL_API_KEY'] : readSecretFile(keyFile, keyFileWords)
  if (!apiKey) throw wrongUsage(`${name} needs a key`, 'put it in KEYRAIL_API_KEY, or in a file named by --key-file')
  return kind === 'base-url' ? { baseUrl: url, apiKey } : { rpcUrl: url, apiKey }
}

/**
 * As {@link readEndpoint}, and asks for the key on the terminal where an address has none yet.
 *
 * @param given - The command's arguments.
 * @param environment - What `readEndpoint` reads.
 * @param streams - The terminal. @default that of the process
 * @throws {CliError} as `readEndpoint`.
 */
export async function readEndpointOrPrompt(
  given: ReadArguments,
  environment: Environment,
  streams: PromptStreams = {},
): Promise<EndpointUrlOptions> {
  const hasKey = given.text('key-file') !== undefined || !!environment['KEYRAIL_API_KEY']
  const asks = !hasKey && canPrompt(streams) && wayOf(given, environment).kind !== 'url'
  if (!asks) return readEndpoint(given, environment)
  const typed = (await promptSecret('API key', streams)).trim()
  return readEndpoint(given, { ...environment, KEYRAIL_API_KEY: typed })
}

/** A part as long as this, in a path or a query, is a secret more often than not. */
const secretPart = /[\w~-]{20,}/

/** Says so where `--url` holds a key: it is in the shell's history by then, and was in the list of processes for a moment. */
export async function warnAboutKeyInUrl(given: ReadArguments): Promise<void> {
  const url = URL.parse(given.text('url') ?? '')
  if (url === null || (url.password === '' && !secretPart.test(url.pathname + url.search))) return
  await printNote("keyrail: --url leaves the key in the shell's history; KEYRAIL_URL or --key-file keeps it out")
}
