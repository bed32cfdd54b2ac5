import { createTransport } from '@keyrail/core'
import type { EndpointUrlOptions } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { examine } from '../doctor/examine.ts'
import { formatFinding, formatSummary } from '../output/doctorReport.ts'
import { print, printData } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import { readEndpointOrPrompt, readNetwork, warnAboutKeyInUrl } from './endpoint.ts'
import { withConfig } from './withConfig.ts'

const defaults = { calls: 20, batch: 100, logRange: 10_000, timeoutMs: 10_000 } as const

function readOrigin(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== text.replace(/\/$/, '').toLowerCase()) {
    throw wrongUsage('--origin is no origin', 'give scheme, host and port of the page, as in https://app.example')
  }
  return url.origin
}

/** The chain id that the config of a service has for the network that is examined. */
async function ofConfig(file: string, given: ReadArguments, address: EndpointUrlOptions): Promise<number> {
  const text = [address.url, address.baseUrl, address.rpcUrl].find((one) => typeof one === 'string') ?? ''
  const inPath = /\/(testnet|mainnet)(?:\/|$)/.exec(text)?.[1]
  const network = readNetwork(given.text('network') ?? inPath)
  if (network === undefined) throw wrongUsage('--config has a chain id for each network', 'add --network')
  const { readServiceConfig } = await import('@keyrail/gateway')
  return withConfig(file, () => readServiceConfig(file).networks[network].chainId)
}

async function chainIdOf(given: ReadArguments, address: EndpointUrlOptions): Promise<number | undefined> {
  const own = readWholeNumber('--chain-id', given.text('chain-id'), { min: 1, max: Number.MAX_SAFE_INTEGER })
  const file = given.text('config')
  if (own !== undefined && file !== undefined) throw wrongUsage('--chain-id and --config exclude each other')
  return file === undefined ? own : ofConfig(file, given, address)
}

/** What may be printed of an address. */
function labelOf(address: EndpointUrlOptions): string {
  const transport = createTransport(address)
  transport.close()
  return transport.redactedUrl
}

/**
 * `keyrail doctor`: examines an address, and says of everything that is not as it should be what to do about it.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0 where nothing failed; 1 where something did; 3 where nobody answered.
 * @throws {CliError} exit code 2 for a wrong command line.
 */
export async function doctor(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0) throw wrongUsage('keyrail doctor takes options only', 'see keyrail doctor --help')
  const whole = (name: string, min: number, max: number): number | undefined =>
    readWholeNumber(`--${name}`, given.text(name), { min, max })
  const calls = whole('calls', 1, 1_000) ?? defaults.calls
  const batch = whole('batch', 0, 1_000) ?? defaults.batch
  const logRange = whole('log-range', 0, 10_000_000) ?? defaults.logRange
  const timeoutMs = whole('timeout', 1, 3_600_000) ?? defaults.timeoutMs
  const origin = readOrigin(given.text('origin'))
  await warnAboutKeyInUrl(given)
  const address = await readEndpointOrPrompt(given, process.env)
  const chainId = await chainIdOf(given, address)
  const label = labelOf(address)

  const json = given.flag('json')
  const style = getStyle(process.stdout)
  if (!json) await print([`${style.strong('Keyrail doctor')} ${label}`, ''])
  const { findings, unanswered } = await examine(
    address,
    { chainId, calls, batch, logRange, origin, timeoutMs },
    async (finding) => {
      if (!json) await print(formatFinding(finding, style))
    },
  )
  const isWell = findings.every(({ level }) => level !== 'fail')
  await (json
    ? printData(JSON.stringify({ address: label, ok: isWell, findings }))
    : print(['', formatSummary(findings, style)]))
  if (isWell) return exitCodes.ok
  return unanswered ? exitCodes.noResponse : exitCodes.rejected
}
