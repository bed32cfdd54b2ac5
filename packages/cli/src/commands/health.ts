import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { print } from '../output/print.ts'
import { getConfigFile } from './getConfigFile.ts'

// Docker starts this every few seconds, so it loads nothing of the service.

/** Where the service listens where the config does not say it. */
export const listenDefaults = { host: '127.0.0.1', port: 8080 } as const

const defaultTimeoutMs = 4_000

interface Listener {
  readonly protocol: 'http' | 'https'
  readonly hosts: readonly string[]
  readonly port: number
}

/** Hosts that mean every interface, and the addresses to reach them at from this machine. */
const wildcards: Readonly<Record<string, readonly string[]>> = {
  '0.0.0.0': ['127.0.0.1'],
  '::': ['::1', '127.0.0.1'],
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Reads where the service listens, and nothing else: a service that runs keeps its old config while the file has a fault elsewhere.
 *
 * @throws {CliError} where the file cannot be read, or does not say it.
 */
function readListener(file: string): Listener {
  let config: unknown
  try {
    config = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // The platform's message quotes the file, which may hold secrets.
    throw new CliError(
      code === undefined ? `the config ${file} is not JSON` : `the config ${file} cannot be read: ${code}`,
      {
        hint: 'name another config with --config FILE',
      },
    )
  }
  if (!isObject(config)) throw new CliError(`the config ${file} has no object`)
  const listen = config['listen'] ?? {}
  const { host = listenDefaults.host, port = listenDefaults.port } = isObject(listen) ? listen : { port: listen }
  if (typeof host !== 'string' || host === '') throw new CliError(`listen.host in ${file} must be a text`)
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CliError(`listen.port in ${file} must be a whole number from 1 to 65535`)
  }
  if (port === 0) {
    throw new CliError(`listen.port is 0 in ${file}, so the service takes any free port`, {
      hint: 'give it a fixed port, so that its health can be checked',
    })
  }
  return { protocol: config['tls'] === undefined ? 'http' : 'https', hosts: wildcards[host] ?? [host], port }
}

/** Asks for `/healthz`. @returns What is wrong; undefined where the service is alive. */
async function askHealth(url: string, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onResponse = ({ statusCode }: { statusCode?: number | undefined }): void => {
      resolve(statusCode === 200 ? undefined : `${url} answered ${statusCode}`)
      sent.destroy()
    }
    const target = `${url}/healthz`
    // The certificate is for the name that callers use, and this connection does not leave the machine.
    const sent = url.startsWith('https:')
      ? httpsRequest(target, { rejectUnauthorized: false, agent: false }, onResponse)
      : httpRequest(target, { agent: false }, onResponse)
    const timer = setTimeout(() => {
      resolve(`${url} did not answer within ${timeoutMs / 1_000} s`)
      sent.destroy()
    }, timeoutMs)
    sent.on('close', () => clearTimeout(timer))
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(`${url} did not answer: ${error.code ?? error.message}`))
    sent.end()
  })
}

/**
 * `keyrail health`: whether the process of a service on this machine is alive, for the health check of a container. It follows `listen` and
 * `tls` of the config, and asks `/healthz`: a service whose nodes are dead is not ready, but restarting it would not help.
 *
 * @param given - The command's arguments.
 * @returns The exit code: 0 where it is alive.
 * @throws {CliError} exit code 1 where it is not, or where the config does not say where it listens.
 */
export async function health(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0) throw wrongUsage('keyrail health takes options only', 'see keyrail health --help')
  const timeoutMs = readWholeNumber('--timeout', given.text('timeout'), { min: 1, max: 60_000 }) ?? defaultTimeoutMs
  const { protocol, hosts, port } = readListener(getConfigFile(given))
  const urls = hosts.map((host) => `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`)
  const faults = await Promise.all(urls.map((url) => askHealth(url, timeoutMs)))
  const alive = urls.find((_, index) => faults[index] === undefined)
  if (alive === undefined) throw new CliError(faults.join('; '), { hint: 'is the service running? see its log' })
  await print(`the service at ${alive} is alive`)
  return exitCodes.ok
}
