import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError } from './configError.ts'
import type { ConfigFault } from './configError.ts'
import { parseServiceConfig } from './parseServiceConfig.ts'
import { longestDrainDelayMs } from './serviceConfig.ts'
import type { ServiceConfig } from './serviceConfig.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Upstream = ServiceConfig['networks']['testnet']['upstreams'][number]

const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read'

/** The platform's message quotes the text, which may hold a secret; of it only the place is told. */
const placeOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : ''
  const at = /\(line (\d+) column (\d+)\)/.exec(message)
  return at === null ? '' : ` (line ${at[1]}, column ${at[2]})`
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError([
      {
        path: 'the config',
        fix: `is not JSON${placeOf(error)}: it takes no comments and no comma after the last member`,
      },
    ])
  }
}

/** Whoever mixed up name and value may have put the URL itself there, which is not repeated. */
const variable = (name: string): string =>
  /^[A-Z][A-Z0-9_]{0,63}$/.test(name) ? `the environment variable ${name}` : 'an environment variable'

/** Puts the URL of an upstream in the place of what names it. */
const openUpstream = (upstream: Upstream, { folder, environment }: Place): Upstream | string => {
  const { url: given, urlEnv, urlFile, ...rest } = upstream
  if (given !== undefined) return upstream
  let url: string | undefined
  if (urlEnv !== undefined) {
    url = environment[urlEnv]
    if (url === undefined || url === '')
      return `.urlEnv names ${variable(urlEnv)}, which is not set: set it, or leave this upstream out`
  } else if (urlFile !== undefined) {
    try {
      url = readFileSync(resolve(folder, urlFile), 'utf8')
    } catch (error) {
      return `.urlFile names a file that cannot be read: ${reasonOf(error)}`
    }
  }
  const trimmed = url?.trim() ?? ''
  const protocol = URL.parse(trimmed)?.protocol
  if (protocol !== 'http:' && protocol !== 'https:') return ' leads to what is not an http or https URL'
  return { ...rest, url: trimmed }
}

interface Place {
  readonly folder: string
  readonly environment: Environment
}

const openUpstreams = (config: ServiceConfig, place: Place): ServiceConfig['networks'] => {
  const faults: ConfigFault[] = []
  const openNetwork = (name: 'testnet' | 'mainnet'): ServiceConfig['networks']['testnet'] => {
    const network = config.networks[name]
    const upstreams = network.upstreams.map((upstream, index) => {
      const opened = openUpstream(upstream, place)
      if (typeof opened !== 'string') return opened
      const [, member = '', fix = ''] = /^(\.\w+)?\s*(.*)$/.exec(opened) ?? []
      faults.push({ path: `networks.${name}.upstreams[${index}]${member}`, fix })
      return upstream
    })
    return { ...network, upstreams }
  }
  const networks = { testnet: openNetwork('testnet'), mainnet: openNetwork('mainnet') }
  if (faults.length > 0) throw new ConfigError(faults)
  return networks
}

const readDrainDelay = ({ KEYRAIL_DRAIN_DELAY_MS: given = '' }: Environment): number | undefined => {
  if (given === '') return undefined
  const ms = /^\d+$/.test(given) ? Number(given) : NaN
  if (ms <= longestDrainDelayMs) return ms
  throw new ConfigError([
    { path: 'KEYRAIL_DRAIN_DELAY_MS', fix: `must be a whole number of milliseconds from 0 to ${longestDrainDelayMs}` },
  ])
}

/**
 * Reads a config file. Paths in it are meant from the folder it is in; `urlEnv` and `urlFile` of upstreams are followed.
 * @param file - JSON; see `parseServiceConfig` for what it holds.
 * @param options.environment - Where `urlEnv` and `KEYRAIL_DRAIN_DELAY_MS` are looked up. @default process.env
 * @throws {ConfigError} naming every fault with its fix; no value is repeated.
 * @example
 * const config = readServiceConfig('/etc/keyrail/keyrail.config.json')
 */
export const readServiceConfig = (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): ServiceConfig => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const reason = reasonOf(error)
    const fix = reason === 'ENOENT' ? `is not there: ${resolve(file)}` : `cannot be read: ${reason} of ${resolve(file)}`
    throw new ConfigError([{ path: 'the config', fix }])
  }
  const config = parseServiceConfig(parseJson(text))
  const folder = dirname(resolve(file))
  const { storage, tls, dashboard } = config
  const drainDelayMs = config.drainDelayMs ?? readDrainDelay(environment)
  return {
    ...config,
    ...(drainDelayMs === undefined ? {} : { drainDelayMs }),
    networks: openUpstreams(config, { folder, environment }),
    ...(storage === undefined ? {} : { storage: { file: resolve(folder, storage.file) } }),
    ...(dashboard === undefined ? {} : { dashboard: { folder: resolve(folder, dashboard.folder) } }),
    ...(tls === undefined
      ? {}
      : { tls: { certFile: resolve(folder, tls.certFile), keyFile: resolve(folder, tls.keyFile) } }),
  }
}
