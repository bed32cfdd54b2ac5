import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'

type Environment = Readonly<Record<string, string | undefined>>

const hint = 'give the address of the dashboard, such as http://127.0.0.1:7245, by --service or in KEYRAIL_SERVICE_URL'
const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** A service's control API, and whether what is sent there can be read on the way. */
export interface ServiceUrl {
  /** As in `https://node.example`. */
  readonly origin: string
  readonly readableOnTheWay: boolean
}

/** Whether a host is this machine. */
export const isLoopback = (hostname: string): boolean => loopback.test(hostname)

/**
 * Finds out which service's control API is meant. The command line wins over the environment.
 *
 * @param given - The command's arguments.
 * @param environment - KEYRAIL_SERVICE_URL is read.
 * @throws {CliError} exit code 2 where there is none, or it is no URL of a dashboard. What was given is not repeated: it may hold a key.
 */
export function readServiceUrl(given: ReadArguments, environment: Environment): ServiceUrl {
  const [name, text] =
    given.text('service') === undefined
      ? ['KEYRAIL_SERVICE_URL', environment['KEYRAIL_SERVICE_URL']]
      : ['--service', given.text('service')]
  if (!text) throw wrongUsage('there is no service to ask', hint)
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrongUsage(`${name} must be an http or https URL`, hint)
  if (!/^\/*$/.test(url.pathname) || `${url.search}${url.hash}${url.username}${url.password}` !== '') {
    throw wrongUsage(`${name} holds more than the address of a dashboard`, hint)
  }
  return { origin: url.origin, readableOnTheWay: url.protocol === 'http:' && !isLoopback(url.hostname) }
}
