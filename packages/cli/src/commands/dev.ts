import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { writeEnvFile } from '../dev/envFile.ts'
import { makeFirstCalls } from '../dev/firstCalls.ts'
import type { FirstCalls } from '../dev/firstCalls.ts'
import type { DevService } from '../dev/devService.ts'
import { defaultPort, startDev } from '../dev/startDev.ts'
import { formatUrls, formatFirstCalls, formatNextSteps } from '../output/devReport.ts'
import { getOwnCommands } from '../output/getOwnCommands.ts'
import { print, printData, printNote } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import { listenForStop } from './listenForStop.ts'

interface Shown {
  readonly once: boolean
  readonly json: boolean
}

async function show(service: DevService, calls: FirstCalls | undefined, { once, json }: Shown): Promise<void> {
  if (json) {
    await printData(JSON.stringify(once ? { ...service.description, calls: calls?.calls } : service.description))
    return
  }
  if (!calls) return
  const style = getStyle(process.stdout)
  await print([
    `${style.strong('Keyrail')} serves two networks on this machine, each from a node of its own: ${service.description.url}`,
    '',
    ...formatFirstCalls(calls, style, process.stdout.isTTY ? process.stdout.columns : undefined),
    '',
    ...formatUrls(calls, style),
    '',
    ...(once
      ? [
          calls.allMatch
            ? style.good('Every answer is what the node itself says.')
            : style.bad('Not every answer is what the node itself says.'),
        ]
      : [
          ...formatNextSteps(service, style),
          '',
          `${style.strong('Serving until Ctrl-C')} at ${service.description.url}`,
        ]),
  ])
}

/**
 * `keyrail dev`: the service on two embedded nodes, until it is told to stop.
 *
 * @param given - The command's arguments.
 * @returns The exit code: 0 after an orderly stop; 1 where a first call of `--once` failed or a node died.
 */
export async function dev(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0) throw wrongUsage('keyrail dev takes options only', 'see keyrail dev --help')
  const shown: Shown = { once: given.flag('once'), json: given.flag('json') }
  const options = {
    port: readWholeNumber('--port', given.text('port'), { min: 0, max: 65_535 }),
    data: given.text('data'),
    unsafeNodeMethods: given.flag('unsafe-node-methods'),
  }
  const envFile = given.text('env')
  const stop = listenForStop()
  // A stop that is asked for while the nodes start need not wait for them: they end with the process.
  const stoppedEarly = stop.asked.then(() => undefined)
  const service = await Promise.race([startDev(options), stoppedEarly])
  if (service === undefined) return exitCodes.interrupted
  let removeEnvFile = (): void => {}
  try {
    if (envFile !== undefined && !shown.once) {
      removeEnvFile = writeEnvFile(envFile, service.description)
      // Also where the process ends without a stop.
      process.once('exit', removeEnvFile)
    }
    if (options.port === undefined && service.port !== defaultPort) {
      await printNote(`keyrail: port ${defaultPort} is taken, so a free one was chosen: ${service.port}`)
    }
    if (options.unsafeNodeMethods) {
      await printNote(
        "keyrail: the nodes' own methods are open to every key: anvil_*, evm_*, hardhat_* (--unsafe-node-methods)",
      )
    }
    const calls = shown.json && !shown.once ? undefined : await makeFirstCalls(service.description)
    await show(service, calls, shown)
    if (shown.once) return calls?.allMatch === true ? exitCodes.ok : exitCodes.rejected
    const broken = await Promise.race([stop.asked.then(() => undefined), service.broken])
    if (broken !== undefined) {
      throw new CliError(broken, {
        hint: `everything is stopped; start again with ${getOwnCommands(import.meta.url).dev.replace(/ --$/, '')}`,
      })
    }
    if (!shown.json) await print('Stopping')
    return exitCodes.ok
  } finally {
    removeEnvFile()
    await service.stop()
    stop.forget()
  }
}
