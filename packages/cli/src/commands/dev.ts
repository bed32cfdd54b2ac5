import { existsSync } from 'node:fs'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { defaultFolder, findRunning } from '../dev/devFolder.ts'
import { writeEnvFile } from '../dev/envFile.ts'
import { readDevNetworks } from '../dev/devNetworks.ts'
import type { DevNetwork } from '../dev/devNetworks.ts'
import { createForkNetwork } from '../dev/forkNetwork.ts'
import { makeFirstCalls } from '../dev/firstCalls.ts'
import type { FirstCalls } from '../dev/firstCalls.ts'
import type { RunningElsewhere } from '../dev/devFolder.ts'
import type { DevService } from '../dev/devService.ts'
import { defaultPort, startDev } from '../dev/startDev.ts'
import {
  formatChainDetails,
  formatComparison,
  formatFirstCalls,
  formatFirstCommand,
  formatNextSteps,
  formatService,
  formatServing,
  formatUrls,
} from '../output/devReport.ts'
import { getOwnCommands } from '../output/getOwnCommands.ts'
import { print, printData, printNote } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import type { Style } from '../output/style.ts'
import { warnAboutKey } from './endpoint.ts'
import { listenForStop } from './listenForStop.ts'

interface OutputOptions {
  readonly once: boolean
  readonly json: boolean
  readonly verbose: boolean
  readonly envFile: string | undefined
  readonly blockTime: number | undefined
}

const formatTitle = ({ nodes, fork }: DevService['description'], style: Style): string => {
  const how = fork ? `a fork of ${fork.redactedUrl} at block ${fork.blockNumber}` : 'each with its own node'
  return `${style.strong('Keyrail')} serves ${formatNames(Object.keys(nodes))} on this machine, ${how}`
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

async function show(service: DevService, calls: FirstCalls | undefined, output: OutputOptions): Promise<void> {
  const { once, json, verbose } = output
  const { description } = service
  if (json) {
    await printData(JSON.stringify(once ? { ...description, calls: calls?.calls } : description))
    return
  }
  if (!calls) return
  const style = getStyle(process.stdout)
  const columns = process.stdout.isTTY ? process.stdout.columns : undefined
  const title = formatTitle(description, style)
  if (once) {
    const result = calls.allMatch
      ? style.good('Every result matches the node.')
      : style.bad('Some results do not match the node.')
    await print([title, '', ...formatFirstCalls(calls, style, columns), '', ...formatUrls(calls, style), '', result])
    return
  }
  await print([title, ''])
  await printService({ ...service, logInLink: service.createLogInLink() }, output.envFile)
  await print([
    '',
    ...formatComparison(calls, style),
    '',
    ...formatFirstCommand(service, style),
    '',
    ...(verbose
      ? [
          ...formatFirstCalls(calls, style, columns),
          '',
          ...formatUrls(calls, style),
          '',
          ...formatChainDetails(description, style),
          '',
          ...formatNextSteps(service, style),
          '',
        ]
      : []),
    ...formatServing({ style, verbose, blockTime: output.blockTime }),
  ])
}

async function printService(service: Parameters<typeof formatService>[0], envFile: string | undefined): Promise<void> {
  const { isTTY } = process.stdout
  const lines = formatService(service, { style: getStyle(process.stdout), envFile, showKey: isTTY })
  // A terminal is not recorded, so the key is in full there.
  await (isTTY ? printData(lines.join('\n')) : print(lines))
}

/** Shows how to use the service of another process. */
async function showRunning(running: RunningElsewhere, { json, envFile }: OutputOptions): Promise<void> {
  const { description, folder, processId } = running
  await printNote(`keyrail: this service already runs, as process ${processId}. It was not changed`)
  if (json) return printData(JSON.stringify(description))
  await printService(running, envFile !== undefined && existsSync(envFile) ? envFile : undefined)
  await print([
    '',
    'To stop it, press Ctrl-C in its terminal.',
    `For a second service, run ${getOwnCommands(import.meta.url).dev} --ephemeral${envFile === undefined ? '' : ' --env FILE'}: the data folder ${folder.path} is in use`,
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
  const envFile = given.text('env')
  const output: OutputOptions = {
    once: given.flag('once'),
    json: given.flag('json'),
    verbose: given.flag('verbose'),
    envFile,
    blockTime: readWholeNumber('--block-time', given.text('block-time'), { min: 1, max: 3_600 }),
  }
  const data = given.text('data')
  const ephemeral = given.flag('ephemeral')
  if (ephemeral && data !== undefined)
    throw wrongUsage('--ephemeral and --data cannot be combined', 'omit one: --ephemeral uses a temporary folder')
  const options = {
    port: readWholeNumber('--port', given.text('port'), { min: 0, max: 65_535 }),
    data: ephemeral ? undefined : (data ?? defaultFolder),
    unsafeNodeMethods: given.flag('unsafe-node-methods'),
    blockTime: output.blockTime,
    networks: await readNetworks(given),
  }
  const running = output.once || options.data === undefined ? undefined : findRunning(options.data)
  if (running !== undefined) {
    await showRunning(running, output)
    return exitCodes.ok
  }
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
