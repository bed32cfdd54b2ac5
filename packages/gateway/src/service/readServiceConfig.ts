import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, getErrorCode, isConfigError, unreadableFile } from './configError.ts'
import type { ConfigFault } from './configError.ts'
import { findHeadersFault } from '../proxy/upstream/upstreamHeaders.ts'
import { findStoreFaults, parseServiceConfig } from './parseServiceConfig.ts'
import { addPortOffset } from './portOffset.ts'
import { maxDrainDelayMs } from './serviceConfig.ts'
import type { ServiceConfig } from './serviceConfig.ts'
import type { Environment } from './serviceEnvironment.ts'
import { toOrdinaryNode } from './vendorNodes.ts'

/**
 * Reads a config file. Relative paths in it start at its folder. The URLs and
 * passwords in variables and files, and headers in files, are read too.
 * @param file - The path of a JSON file; see `parseServiceConfig` for its members.
 * @param options.environment - For `urlEnv`, `wsUrlEnv`, `keyEnv`, `passwordEnv`, `clientSecretEnv`, `KEYRAIL_DRAIN_DELAY_MS` and `KEYRAIL_PORT_OFFSET`. @default process.env
 * @throws {ConfigError} that names each fault and how to fix it. It repeats no value.
 * @example
 * const config = readServiceConfig('/etc/keyrail/keyrail.config.json')
 */
export const readServiceConfig = (
  file: string,
  { environment = process.env }: { environment?: Environment } = {},
): ServiceConfig =>
  resolveServiceConfig(parseJson(readConfigText(resolve(file))), { folder: dirname(resolve(file)), environment })

/**
 * Validates a config, and replaces the variables and files that it names with their values.
 * @param input - The parsed JSON of a config file.
 * @param sources.folder - Where relative paths in it start.
 * @throws {ConfigError} that names each fault and how to fix it. It repeats no value.
 */
export const resolveServiceConfig = (input: unknown, { folder, environment }: Sources): ServiceConfig => {
  const config = parseServiceConfig(input)
  const { storage, cache, tls, tracing, email, oidc, dashboard, listen, control, prometheus } = config
  const cacheFile = cache?.file === undefined ? undefined : resolve(folder, cache.file)
  if (storage !== undefined && resolve(folder, storage.file) === cacheFile)
    throw new ConfigError([{ path: 'cache.file', fix: 'must not be the same file as storage.file: use another path' }])
  const networks = readUpstreams(config, { folder, environment })
  const storeFaults = findStoreFaults({ ...config, networks })
  if (storeFaults.length > 0) throw new ConfigError(storeFaults)
  const drainDelayMs = config.drainDelayMs ?? readDrainDelay(environment)
  const addOffset = readPortOffset(environment)
  return {
    ...config,
    drainDelayMs,
    listen: addOffset('listen', listen),
    ...(prometheus === undefined ? {} : { prometheus: addOffset('prometheus', prometheus) }),
    ...(control === undefined ? {} : { control: { ...control, listen: addOffset('control.listen', control.listen) } }),
    networks,
    ...(tracing?.headers === undefined
      ? {}
      : { tracing: { ...tracing, headers: readHeaders(tracing.headers, 'tracing.headers', folder) } }),
    ...(email === undefined ? {} : { email: readEmail(email, { folder, environment }) }),
    ...(oidc === undefined ? {} : { oidc: readOidc(oidc, { folder, environment }) }),
    ...(storage === undefined ? {} : { storage: { file: resolve(folder, storage.file) } }),
    ...(cache === undefined || cacheFile === undefined ? {} : { cache: { ...cache, file: cacheFile } }),
    ...(dashboard === undefined ? {} : { dashboard: { folder: resolve(folder, dashboard.folder) } }),
    ...(tls === undefined
      ? {}
      : { tls: { certFile: resolve(folder, tls.certFile), keyFile: resolve(folder, tls.keyFile) } }),
  }
}

const readConfigText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = getErrorCode(error) ?? 'unknown error'
    const fix = code === 'ENOENT' ? `does not exist: ${file}` : `cannot be read (${code}): ${file}`
    throw new ConfigError([{ path: 'the config', fix }])
  }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    const fix = `is not JSON${formatPosition(error)}: fix the syntax there. JSON has no comments and no trailing commas`
    throw new ConfigError([{ path: 'the config', fix }])
  }
}

/** The position of a JSON syntax error. The rest of the platform's message quotes the text, which can hold a secret. */
const formatPosition = (error: unknown): string => {
  const message = error instanceof Error ? error.message : ''
  const match = /\(line (\d+) column (\d+)\)/.exec(message)
  return match === null ? '' : ` (line ${match[1]}, column ${match[2]})`
}

/** Longer than the load balancers of `deploy/` need to notice `/readyz`. */
const defaultDrainDelayMs = 5_000

const readDrainDelay = ({ KEYRAIL_DRAIN_DELAY_MS: text = '' }: Environment): number => {
  if (text === '') return defaultDrainDelayMs
  const ms = /^\d+$/.test(text) ? Number(text) : NaN
  if (ms <= maxDrainDelayMs) return ms
  throw new ConfigError([
    { path: 'KEYRAIL_DRAIN_DELAY_MS', fix: `must be a whole number of milliseconds from 0 to ${maxDrainDelayMs}` },
  ])
}

/** @returns A function that adds `KEYRAIL_PORT_OFFSET` to the port of a server. */
const readPortOffset =
  (environment: Environment) =>
  <At extends { readonly port: number }>(option: string, at: At): At => {
    const added = addPortOffset(`${option}.port`, at.port, environment)
    if ('fix' in added) throw new ConfigError([{ path: 'KEYRAIL_PORT_OFFSET', fix: added.fix }])
    return { ...at, port: added.port }
  }

type Networks = ServiceConfig['networks']
type Upstream = Networks[string]['upstreams'][number]

interface Sources {
  /** The folder of the config file, or the current one without a file. */
  readonly folder: string
  readonly environment: Environment
}

/** Replaces the variables and files of URLs, keys and headers with their values, and vendors with their URLs, in all upstreams. */
const readUpstreams = ({ networks, vendors = {} }: ServiceConfig, sources: Sources): Networks => {
  const { folder } = sources
  const faults: ConfigFault[] = []
  const commonKeys = new Map<string, string | undefined>()
  for (const [vendor, given] of Object.entries(vendors))
    try {
      commonKeys.set(vendor, readKey(given, `vendors.${vendor}`, sources))
    } catch (error) {
      if (!isConfigError(error)) throw error
      faults.push(...error.faults)
    }
  const readVendorNode = (upstream: Upstream, path: string, chainId: number): Upstream => {
    const { vendor } = upstream
    if (vendor === undefined) return upstream
    const key = readKey(upstream, path, sources) ?? commonKeys.get(vendor)
    return toOrdinaryNode(upstream, { vendor, chainId, key })
  }
  const readNetwork = (name: string, network: Networks[string]): Networks[string] => ({
    ...network,
    upstreams: network.upstreams.map((upstream, index) => {
      try {
        const path = `networks.${name}.upstreams[${index}]`
        const read = readUpstreamUrls(readVendorNode(upstream, path, network.chainId), path, sources)
        return read.headers === undefined
          ? read
          : { ...read, headers: readHeaders(read.headers, `${path}.headers`, folder) }
      } catch (error) {
        if (!isConfigError(error)) throw error
        faults.push(...error.faults)
        return upstream
      }
    }),
  })
  const read = Object.fromEntries(Object.entries(networks).map(([name, network]) => [name, readNetwork(name, network)]))
  if (faults.length > 0) throw new ConfigError(faults)
  return read
}

const readUpstreamUrls = (upstream: Upstream, path: string, sources: Sources): Upstream => {
  const { url, urlEnv, urlFile, wsUrl, wsUrlEnv, wsUrlFile, ...rest } = upstream
  const http = url ?? readUrl({ option: `${path}.url`, env: urlEnv, file: urlFile }, 'http', sources)
  const ws = wsUrl ?? readUrl({ option: `${path}.wsUrl`, env: wsUrlEnv, file: wsUrlFile }, 'ws', sources)
  return { ...rest, ...(http === undefined ? {} : { url: http }), ...(ws === undefined ? {} : { wsUrl: ws }) }
}

/** An environment variable or a file with a value of the config. */
interface Source {
  /** The option that holds the value itself. `Env` and `File` are appended for the others. */
  readonly option: string
  /** What to remove from the config if there is no value. */
  readonly of: string
  readonly env: string | undefined
  readonly file: string | undefined
}

/** Reads a value from an environment variable or a file. @returns `undefined` if neither is named. */
const readSource = ({ option, of, env, file }: Source, { folder, environment }: Sources): string | undefined => {
  if (env !== undefined) {
    const value = environment[env] ?? ''
    if (value !== '') return value
    const fix = `names ${formatVariable(env)}, which is not set: set it or remove ${of}`
    throw new ConfigError([{ path: `${option}Env`, fix }])
  }
  if (file === undefined) return undefined
  try {
    return readFileSync(resolve(folder, file), 'utf8').trim()
  } catch (error) {
    throw unreadableFile(`${option}File`, error)
  }
}

/** Reads the key of a vendor. @returns `undefined` if neither a variable nor a file is named. */
const readKey = (
  { keyEnv, keyFile }: { readonly keyEnv?: string | undefined; readonly keyFile?: string | undefined },
  path: string,
  sources: Sources,
): string | undefined => {
  const option = `${path}.key`
  const key = readSource({ option, of: path, env: keyEnv, file: keyFile }, sources)?.trim()
  if (key === undefined || /^[^\s/]+$/.test(key)) return key
  const [member, place] = keyEnv === undefined ? ['File', 'a file'] : ['Env', formatVariable(keyEnv)]
  const fix = `names ${place}, which holds no key: put the key alone there, without a URL around it`
  throw new ConfigError([{ path: `${option}${member}`, fix }])
}

/** Reads a URL from an environment variable or a file. @returns `undefined` if neither is named. */
const readUrl = (source: Omit<Source, 'of'>, scheme: 'http' | 'ws', sources: Sources): string | undefined => {
  const url = readSource({ ...source, of: 'this upstream' }, sources)?.trim()
  if (url === undefined) return undefined
  const { protocol } = URL.parse(url) ?? {}
  if (protocol === `${scheme}:` || protocol === `${scheme}s:`) return url
  const { option, env } = source
  const [path, place] = env === undefined ? [`${option}File`, 'a file'] : [`${option}Env`, formatVariable(env)]
  const fix = `names ${place}, which holds no ${scheme} or ${scheme}s URL: put the URL of a node there`
  throw new ConfigError([{ path, fix }])
}

/** Reads the headers that are in files. White space around them, such as a line break at the end, is left out. */
const readHeaders = (
  given: NonNullable<Upstream['headers']>,
  path: string,
  folder: string,
): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string') {
      headers[name] = value
      continue
    }
    try {
      headers[name] = readFileSync(resolve(folder, value.file), 'utf8').trim()
    } catch (error) {
      throw unreadableFile(path, error)
    }
  }
  const fault = findHeadersFault(headers)
  if (fault !== undefined) throw new ConfigError([{ path, fix: fault }])
  return headers
}

/** Replaces the variable or file of the password with the password. */
const readEmail = (
  email: NonNullable<ServiceConfig['email']>,
  sources: Sources,
): NonNullable<ServiceConfig['email']> => {
  const { passwordEnv, passwordFile, ...smtp } = email.smtp
  const option = { option: 'email.smtp.password', of: 'email', env: passwordEnv, file: passwordFile }
  const password = readSource(option, sources)
  return password === undefined ? email : { ...email, smtp: { ...smtp, password } }
}

/** Replaces the variable or file of the client secret with the secret. */
const readOidc = (oidc: NonNullable<ServiceConfig['oidc']>, sources: Sources): NonNullable<ServiceConfig['oidc']> => {
  const { clientSecretEnv, clientSecretFile, ...rest } = oidc
  const option = { option: 'oidc.clientSecret', of: 'oidc', env: clientSecretEnv, file: clientSecretFile }
  const clientSecret = readSource(option, sources)
  return clientSecret === undefined ? oidc : { ...rest, clientSecret }
}

/** Anything that does not look like a variable name could be the URL itself and is not repeated. */
const formatVariable = (name: string): string =>
  /^[A-Z][A-Z0-9_]{0,63}$/.test(name) ? `the environment variable ${name}` : 'an environment variable'
