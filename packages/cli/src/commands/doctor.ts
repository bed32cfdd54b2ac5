import { createTransport } from '@keyrail/core'
import type { EndpointUrlOptions } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { examine } from '../doctor/examine.ts'
import { formatFinding, formatSummary } from '../output/doctorReport.ts'
import { formatNodeChecks } from '../output/formatNodeChecks.ts'
import { print, printData } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import { readEndpointOrPrompt, readNetwork, warnAboutKeyInUrl } from './endpoint.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

const defaults = { calls: 20, batch: 100, logRange: 10_000, timeoutMs: 10_000 } as const

function readOrigin(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== text.replace(/\/$/, '').toLowerCase()) {
    throw wrongUsage('--origin must be an origin', 'use the scheme, host and port of the page, as https://app.example')
  }
  return url.origin
}

/** Reads the chain id of the endpoint's network from the config of a service. */
async function readChainIdFromConfig(
  file: string,
  given: ReadArguments,
  endpoint: EndpointUrlOptions,
): Promise<number> {
  const text = [endpoint.url, endpoint.baseUrl, endpoint.rpcUrl].find((one) => typeof one === 'string') ?? ''
  const { readServiceConfig } = await import('@keyrail/gateway')
  const { networks } = await withConfig(file, () => readServiceConfig(file))
  const names = new Map(
    Object.entries(networks).flatMap(([name, network]) =>
      [name, ...network.aliases].map((one) => [one, network.chainId] as const),
    ),
  )
  const inPath = (URL.parse(text)?.pathname ?? '').split('/').find((part) => names.has(part))
  const network = readNetwork(given.text('network') ?? inPath)
  const chainId = network === undefined ? undefined : names.get(network)
  if (chainId !== undefined) return chainId
  throw wrongUsage(
    network === undefined ? '--config needs a network' : `the config has no network ${network}`,
    `add --network with one of ${Object.keys(networks).join(', ')}`,
  )
}

async function readChainId(given: ReadArguments, endpoint: EndpointUrlOptions): Promise<number | undefined> {
  const own = readWholeNumber('--chain-id', given.text('chain-id'), { min: 1, max: Number.MAX_SAFE_INTEGER })
  const file = given.text('config')
  if (own !== undefined && file !== undefined)
    throw wrongUsage('--chain-id and --config cannot be combined', 'use one of them')
  return file === undefined ? own : readChainIdFromConfig(file, given, endpoint)
}

function getRedactedUrl(endpoint: EndpointUrlOptions): string {
  const { redactedUrl, close } = createTransport(endpoint)
  close()
  return redactedUrl
}

/** `--vendors`: asks the nodes that a config has by the name of their vendor for their chain ids. */
async function checkVendorNodes(given: ReadArguments): Promise<number> {
  const file = getConfigFile(given)
  const { checkVendors } = await import('@keyrail/gateway')
  const checks = await withConfig(file, () => checkVendors(file))
  if (checks.length === 0)
    throw wrongUsage(
      `${file} has no node by the name of its vendor`,
      'check all nodes with keyrail serve --check --nodes',
    )
  const wrong = checks.filter(({ problem }) => problem !== undefined)
  if (given.flag('json')) {
    const nodes = checks.map(({ member: _member, problem = null, ...check }) => ({ ...check, problem }))
    await printData(JSON.stringify({ ok: wrong.length === 0, nodes }))
    return wrong.length === 0 ? exitCodes.ok : exitCodes.rejected
  }
  await print(formatNodeChecks(checks, getStyle(process.stdout)))
  if (wrong.length === 0) return exitCodes.ok
  throw new CliError(`${wrong.length} of ${checks.length} nodes of vendors cannot be used`, {
    hint: 'check that the key is valid and for these networks; if the vendor has another URL by now, write it as url, urlEnv or urlFile',
  })
}

/**
 * `keyrail doctor`: checks an endpoint, and shows how to fix each problem.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0 if no check failed; 1 if one did; 3 without a response.
 * @throws {CliError} exit code 2 for invalid usage.
 */
export async function doctor(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0)
    throw wrongUsage('keyrail doctor takes no arguments, only options', 'see keyrail doctor --help')
  if (given.flag('vendors')) return checkVendorNodes(given)
  const readNumber = (name: string, min: number, max: number): number | undefined =>
    readWholeNumber(`--${name}`, given.text(name), { min, max })
  const calls = readNumber('calls', 1, 1_000) ?? defaults.calls
  const batch = readNumber('batch', 0, 1_000) ?? defaults.batch
  const logRange = readNumber('log-range', 0, 10_000_000) ?? defaults.logRange
  const timeoutMs = readNumber('timeout', 1, 3_600_000) ?? defaults.timeoutMs
  const origin = readOrigin(given.text('origin'))
  await warnAboutKeyInUrl(given)
  const endpoint = await readEndpointOrPrompt(given, process.env)
  const chainId = await readChainId(given, endpoint)
  const redactedUrl = getRedactedUrl(endpoint)

  const json = given.flag('json')
  const style = getStyle(process.stdout)
  if (!json) await print([`${style.strong('Keyrail doctor')} ${redactedUrl}`, ''])
  const { findings, noResponse } = await examine(
    endpoint,
    { chainId, calls, batch, logRange, origin, timeoutMs },
    async (finding) => {
      if (!json) await print(formatFinding(finding, style))
    },
  )
  const ok = findings.every(({ level }) => level !== 'fail')
  await (json ? printData(JSON.stringify({ redactedUrl, ok, findings })) : print(['', formatSummary(findings, style)]))
  if (ok) return exitCodes.ok
  return noResponse ? exitCodes.noResponse : exitCodes.rejected
}
