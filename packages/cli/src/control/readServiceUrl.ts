import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'

type Environment = Readonly<Record<string, string | undefined>>

const hint = 'pass the URL of the dashboard, as http://127.0.0.1:7245, with --service or in KEYRAIL_SERVICE_URL'
const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** The URL of a service's control API. */
export interface ServiceUrl {
  /** For example `https://node.example`. */
  readonly origin: string
  /** Whether others on the network can read requests. */
  readonly unencrypted: boolean
}

/** Whether a host is this machine. */
export const isLoopback = (hostname: string): boolean => loopback.test(hostname)

/**
 * Reads the URL of the service. The option takes precedence over the environment.
 *
 * @param given - The command's arguments.
 * @param environment - KEYRAIL_SERVICE_URL is read.
 * @throws {CliError} exit code 2 if it is missing or invalid. The message omits the value, which may contain a key.
 */
export function readServiceUrl(given: ReadArguments, environment: Environment): ServiceUrl {
  const [name, text] =
    given.text('service') === undefined
      ? ['KEYRAIL_SERVICE_URL', environment['KEYRAIL_SERVICE_URL']]
      : ['--service', given.text('service')]
  if (!text) throw wrongUsage('the URL of the service is missing', hint)
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrongUsage(`${name} must be an http or https URL`, hint)
  if (!/^\/*$/.test(url.pathname) || `${url.search}${url.hash}${url.username}${url.password}` !== '') {
    throw wrongUsage(`${name} must be the URL of a dashboard and nothing more`, hint)
  }
  return { origin: url.origin, unencrypted: url.protocol === 'http:' && !isLoopback(url.hostname) }
}
