import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { defaultFolder } from '../dev/devFolder.ts'
import { writeEnvFile } from '../dev/envFile.ts'
import { readDevNetworks } from '../dev/devNetworks.ts'
import type { DevNetwork } from '../dev/devNetworks.ts'
import { createForkNetwork } from '../dev/forkNetwork.ts'
import { makeFirstCalls } from '../dev/firstCalls.ts'
import type { FirstCalls } from '../dev/firstCalls.ts'
import type { DevService } from '../dev/devService.ts'
import { defaultPort, startDev } from '../dev/startDev.ts'
import { formatChainDetails, formatUrls, formatFirstCalls, formatNextSteps } from '../output/devReport.ts'
import { getOwnCommands } from '../output/getOwnCommands.ts'
import { print, printData, printNote } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import type { Style } from '../output/style.ts'
import { warnAboutKey } from './endpoint.ts'
import { listenForStop } from './listenForStop.ts'

interface OutputOptions {
  readonly once: boolean
  readonly json: boolean
}

const formatTitle = ({ nodes, fork, url }: DevService['description'], style: Style): string => {
  const how = fork ? `a fork of ${fork.redactedUrl} at block ${fork.blockNumber}` : 'each with its own node'
  return `${style.strong('Keyrail')} serves ${formatNames(Object.keys(nodes))} on this machine, ${how}: ${url}`
}

/** Joins names as in a sentence: `a, b and c`. */
const formatNames = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** Reads `--networks` or `--fork`. */
async function readNetworks(given: ReadArguments): Promise<readonly DevNetwork[]> {
  const names = given.text('networks')
  const fork = given.text('fork')
  const block = readWholeNumber('--fork-block', given.text('fork-block'), { min: 0, max: Number.MAX_SAFE_INTEGER })
  if (names !== undefined && fork !== undefined)
    throw wrongUsage('--fork and --networks cannot be combined', 'omit --networks: a fork has the network of its URL')
  await warnAboutKey('--fork', fork, 'KEYRAIL_FORK_URL')
  const url = fork ?? (names === undefined ? process.env['KEYRAIL_FORK_URL'] : undefined)
  if (url) return [await createForkNetwork(url, block)]
  if (block !== undefined) throw wrongUsage('--fork-block needs --fork', 'add --fork URL')
  return readDevNetworks(names)
}

async function show(service: DevService, calls: FirstCalls | undefined, { once, json }: OutputOptions): Promise<void> {
  if (json) {
    await printData(JSON.stringify(once ? { ...service.description, calls: calls?.calls } : service.description))
    return
  }
  if (!calls) return
  const style = getStyle(process.stdout)
  await print([
    formatTitle(service.description, style),
    '',
    ...formatFirstCalls(calls, style, process.stdout.isTTY ? process.stdout.columns : undefined),
    '',
    ...formatUrls(calls, style),
    '',
    ...(once
      ? [
          calls.allMatch
            ? style.good('Every result matches the node.')
            : style.bad('Some results do not match the node.'),
        ]
      : [
          ...formatChainDetails(service.description, style),
          '',
          ...formatNextSteps(service, style),
          '',
          `${style.strong('Serving until Ctrl-C')} at ${service.description.url}`,
        ]),
  ])
}

/**
 * `keyrail dev`: runs the service with embedded nodes, until it is stopped.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0 after a graceful stop; 1 if a first call of `--once` failed.
 */
export async function dev(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0)
    throw wrongUsage(
      'keyrail dev takes no arguments, only options',
      `for example ${getOwnCommands(import.meta.url).dev} --once`,
    )
  const output: OutputOptions = { once: given.flag('once'), json: given.flag('json') }
  const data = given.text('data')
  const ephemeral = given.flag('ephemeral')
  if (ephemeral && data !== undefined)
    throw wrongUsage('--ephemeral and --data cannot be combined', 'omit one: --ephemeral uses a temporary folder')
  const options = {
    port: readWholeNumber('--port', given.text('port'), { min: 0, max: 65_535 }),
    data: ephemeral ? undefined : (data ?? defaultFolder),
    unsafeNodeMethods: given.flag('unsafe-node-methods'),
    networks: await readNetworks(given),
  }
  const envFile = given.text('env')
  const stop = listenForStop()
  // A stop during the start does not wait for the nodes: they exit with the process.
  const stoppedEarly = stop.requested.then(() => undefined)
  const service = await Promise.race([startDev(options), stoppedEarly])
  if (service === undefined) return exitCodes.interrupted
  let removeEnvFile = (): void => {}
  try {
    if (envFile !== undefined && !output.once) {
      removeEnvFile = writeEnvFile(envFile, service.description)
      // Also if the process exits without a stop.
      process.once('exit', removeEnvFile)
    }
    if (options.port === undefined && service.port !== defaultPort) {
      await printNote(`keyrail: port ${defaultPort} is in use, using ${service.port} instead`)
    }
    if (options.unsafeNodeMethods) {
      await printNote('keyrail: every key can call anvil_*, evm_* and hardhat_* methods (--unsafe-node-methods)')
    }
    const calls = output.json && !output.once ? undefined : await makeFirstCalls(service.description)
    await show(service, calls, output)
    if (output.once) return calls?.allMatch === true ? exitCodes.ok : exitCodes.rejected
    const broken = await Promise.race([stop.requested.then(() => undefined), service.broken])
    if (broken !== undefined) {
      throw new CliError(broken, {
        hint: `all processes are stopped; run ${getOwnCommands(import.meta.url).dev.replace(/ --$/, '')} to start again`,
      })
    }
    if (!output.json) await print('Stopping')
    return exitCodes.ok
  } finally {
    removeEnvFile()
    await service.stop()
    stop.dispose()
  }
}
