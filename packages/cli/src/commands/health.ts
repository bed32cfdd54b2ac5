import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { addPortOffset } from '@keyrail/gateway/portOffset'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { print } from '../output/print.ts'
import { getConfigFile } from './getConfigFile.ts'

// Docker runs this every few seconds, so it does not load the service.

/** Where the service listens by default. */
export const listenDefaults = { host: '127.0.0.1', port: 8080 } as const

const defaultTimeoutMs = 4_000

interface Listener {
  readonly protocol: 'http' | 'https'
  readonly hosts: readonly string[]
  readonly port: number
}

/** Wildcard hosts, and the local addresses to reach them at. */
const wildcards: Readonly<Record<string, readonly string[]>> = {
  '0.0.0.0': ['127.0.0.1'],
  '::': ['::1', '127.0.0.1'],
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Reads where the service listens, and ignores the rest: a running service keeps its old config while the file has errors elsewhere.
 *
 * @throws {CliError} if the file cannot be read, or `listen` is invalid.
 */
function readListener(file: string): Listener {
  let config: unknown
  try {
    config = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // The platform's message quotes the file, which may contain secrets.
    throw new CliError(
      code === undefined ? `the config ${file} is not JSON` : `cannot read the config ${file} (${code})`,
      {
        hint: 'use another config with --config FILE',
      },
    )
  }
  if (!isObject(config)) throw new CliError(`the config ${file} must be a JSON object`)
  const listen = config['listen'] ?? {}
  const { host = listenDefaults.host, port = listenDefaults.port } = isObject(listen) ? listen : { port: listen }
  if (typeof host !== 'string' || host === '') throw new CliError(`listen.host in ${file} must be a string`)
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CliError(`listen.port in ${file} must be a whole number from 1 to 65535`)
  }
  if (port === 0) {
    throw new CliError(`listen.port in ${file} is 0, which means any free port`, {
      hint: 'set a fixed port, so that the health check can find the service',
    })
  }
  return { protocol: config['tls'] === undefined ? 'http' : 'https', hosts: wildcards[host] ?? [host], port }
}

/** Requests `/healthz`. @returns The problem; undefined if the service is alive. */
async function checkHealth(url: string, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onResponse = ({ statusCode }: { statusCode?: number | undefined }): void => {
      resolve(statusCode === 200 ? undefined : `${url} returned HTTP ${statusCode}`)
      request.destroy()
    }
    const target = `${url}/healthz`
    // The certificate is for the public name, and this connection does not leave the machine.
    const request = url.startsWith('https:')
      ? httpsRequest(target, { rejectUnauthorized: false, agent: false }, onResponse)
      : httpRequest(target, { agent: false }, onResponse)
    const timer = setTimeout(() => {
      resolve(`${url} did not respond within ${timeoutMs / 1_000} s`)
      request.destroy()
    }, timeoutMs)
    request.on('close', () => clearTimeout(timer))
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(`${url} did not respond: ${error.code ?? error.message}`),
    )
    request.end()
  })
}

/**
 * `keyrail health`: checks that a service on this machine is alive, for the health check of a container. It uses `listen` and `tls` of the
 * config and KEYRAIL_PORT_OFFSET, and requests `/healthz`: a service whose nodes are down is not ready, but restarting it would not help.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0 if it is alive.
 * @throws {CliError} exit code 1 if it is not, or if the config does not define where it listens.
 */
export async function health(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0)
    throw wrongUsage('keyrail health takes no arguments, only options', 'see keyrail health --help')
  const timeoutMs = readWholeNumber('--timeout', given.text('timeout'), { min: 1, max: 60_000 }) ?? defaultTimeoutMs
  const { protocol, hosts, port: ownPort } = readListener(getConfigFile(given))
  const added = addPortOffset('listen.port', ownPort, process.env)
  if ('fix' in added) throw wrongUsage(`KEYRAIL_PORT_OFFSET ${added.fix}`)
  const urls = hosts.map((host) => `${protocol}://${host.includes(':') ? `[${host}]` : host}:${added.port}`)
  const problems = await Promise.all(urls.map((url) => checkHealth(url, timeoutMs)))
  const alive = urls.find((_, index) => problems[index] === undefined)
  if (alive === undefined)
    throw new CliError(problems.join('; '), { hint: 'check that the service is running, and its log' })
  await print(`the service at ${alive} is alive`)
  return exitCodes.ok
}
