import type { EndpointUrlOptions } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'
import { printNote } from '../output/print.ts'
import { canPrompt, promptSecret } from '../secret/promptSecret.ts'
import type { PromptStreams } from '../secret/promptSecret.ts'
import { readSecretFile } from '../secret/readSecretFile.ts'

type Environment = Readonly<Record<string, string | undefined>>

const hint =
  'use --base-url URL (for an app) or --rpc-url URL (for an API key) with the key in KEYRAIL_API_KEY or --key-file FILE; or the full URL in KEYRAIL_URL or --url'
const keyFileWords = {
  name: 'key file',
  content: 'key',
  hint: 'check its path; keyrail dev writes one to .keyrail/keys/app',
} as const

/** Reads `--network`; undefined stays undefined. @throws {CliError} exit code 2 for anything but a name. */
export function readNetwork(text: string | undefined): string | undefined {
  if (text === undefined || /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) return text
  throw wrongUsage(
    '--network must be the name of a network, such as ethereum-mainnet',
    'run keyrail networks to list those of a service',
  )
}

/** Whether a URL names a network: in its path, or at the start of its host. A URL without a path is that of a node and names none. */
const matchesNetwork = (url: string, network: string): boolean => {
  const { pathname, hostname } = URL.parse(url) ?? { pathname: '/', hostname: '' }
  return pathname === '/' || pathname.split('/').includes(network) || hostname.startsWith(`${network}.`)
}

/** Replaces `{network}` in a URL. @throws {CliError} exit code 2 if the URL and the network do not match. */
export function applyNetwork(name: string, url: string, network: string | undefined): string {
  if (url.includes('{network}')) {
    if (network === undefined) throw wrongUsage(`${name} contains {network}`, 'add --network NAME')
    return url.replaceAll('{network}', network)
  }
  if (network !== undefined && !matchesNetwork(url, network)) {
    // The URL may contain a key, so the message does not repeat it.
    throw wrongUsage(
      `--network is ${network}, but ${name} contains neither /${network} nor {network}`,
      'omit --network, or write {network} in the URL in place of the name',
    )
  }
  return url
}

interface UrlSource {
  readonly kind: 'url' | 'base-url' | 'rpc-url'
  /** The option or variable, for errors. */
  readonly name: string
  readonly url: string
}

/** Reads the URL from the options, or else from the environment. */
function readUrl(given: ReadArguments, environment: Environment): UrlSource {
  const [first, second] = (['url', 'base-url', 'rpc-url'] as const).filter((name) => given.text(name) !== undefined)
  if (first !== undefined && second !== undefined) {
    throw wrongUsage(`--${first} and --${second} cannot be combined`, hint)
  }
  const hasKeyFile = given.text('key-file') !== undefined
  if (first === 'url' && hasKeyFile) throw createKeyFileError()
  if (first !== undefined) return { kind: first, name: `--${first}`, url: given.text(first) as string }
  const { KEYRAIL_URL: url, KEYRAIL_BASE_URL: baseUrl } = environment
  if (url && !hasKeyFile) return { kind: 'url', name: 'KEYRAIL_URL', url }
  if (baseUrl) return { kind: 'base-url', name: 'KEYRAIL_BASE_URL', url: baseUrl }
  throw hasKeyFile ? createKeyFileError() : wrongUsage('the endpoint URL is missing', hint)
}

const createKeyFileError = (): Error =>
  wrongUsage(
    '--key-file needs --base-url or --rpc-url',
    'add --base-url URL (for an app) or --rpc-url URL (for an API key)',
  )

/**
 * Reads the key of an endpoint: from `--key-file`, or else from KEYRAIL_API_KEY.
 *
 * @throws {CliError} exit code 2 if the file cannot be read.
 */
export function readKey(given: ReadArguments, environment: Environment): string | undefined {
  const keyFile = given.text('key-file')
  return keyFile === undefined ? environment['KEYRAIL_API_KEY'] : readSecretFile(keyFile, keyFileWords)
}

/**
 * Reads the endpoint of a call. Options take precedence over the environment.
 *
 * @param given - The command's arguments.
 * @param environment - KEYRAIL_URL, KEYRAIL_BASE_URL and KEYRAIL_API_KEY are read.
 * @param knownKey - The key. @default that of {@link readKey}
 * @throws {CliError} exit code 2 if the URL is missing or ambiguous, or the key is missing.
 */
export function readEndpoint(given: ReadArguments, environment: Environment, knownKey?: string): EndpointUrlOptions {
  const network = readNetwork(given.text('network'))
  const { kind, name, url: text } = readUrl(given, environment)
  const url = applyNetwork(name, text, network)
  if (kind === 'url') return { url }
  const apiKey = knownKey ?? readKey(given, environment)
  if (!apiKey) throw wrongUsage(`${name} needs a key`, 'set KEYRAIL_API_KEY, or pass --key-file FILE')
  return kind === 'base-url' ? { baseUrl: url, apiKey } : { rpcUrl: url, apiKey }
}

/**
 * Like {@link readEndpoint}, but prompts for a missing key on the terminal.
 *
 * @param given - The command's arguments.
 * @param environment - As for `readEndpoint`.
 * @param streams - The terminal. @default the process's own
 * @throws {CliError} as `readEndpoint`.
 */
export async function readEndpointOrPrompt(
  given: ReadArguments,
  environment: Environment,
  streams: PromptStreams = {},
): Promise<EndpointUrlOptions> {
  const hasKey = given.text('key-file') !== undefined || !!environment['KEYRAIL_API_KEY']
  const prompts = !hasKey && canPrompt(streams) && readUrl(given, environment).kind !== 'url'
  if (!prompts) return readEndpoint(given, environment)
  const typed = (await promptSecret('API key', streams)).trim()
  return readEndpoint(given, { ...environment, KEYRAIL_API_KEY: typed })
}

/** Returns the parts of a URL that look like a secret: its password, and what is long in its path or query, as keys are. */
function getSecretParts(text: string | undefined): readonly string[] {
  const url = URL.parse(text ?? '')
  if (url === null) return []
  const { password, pathname, search } = url
  return [...(password === '' ? [] : [password]), ...`${pathname}${search}`.matchAll(/[\w~-]{20,}/g)].map(String)
}

/**
 * Warns if the URL of an option contains a key: the shell's history has it, and process lists had it for a moment.
 *
 * @param option - The option: `--url`.
 * @param text - Its value.
 * @param alternative - What to use instead.
 */
export async function warnAboutKey(option: string, text: string | undefined, alternative: string): Promise<void> {
  if (getSecretParts(text).length === 0) return
  await printNote(`keyrail: ${option} leaves the key in the shell's history; use ${alternative} instead`)
}

/** Warns if `--url` contains a key. */
export const warnAboutKeyInUrl = (given: ReadArguments): Promise<void> =>
  warnAboutKey('--url', given.text('url'), 'KEYRAIL_URL or --key-file')
