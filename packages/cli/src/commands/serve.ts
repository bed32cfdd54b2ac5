import { checkServiceFile, configJsonSchema, startFromFile, tuneHeap } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { findDashboardFolder } from '../output/findDashboardFolder.ts'
import { print, printData } from '../output/print.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { listenForStop } from './listenForStop.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

const longestGraceSeconds = 3_600

/** What the system calls why a port cannot be had. */
const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
}

const asListenError = (error: unknown): unknown => {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  const reason = code === undefined ? undefined : listenReasons[code]
  return reason === undefined
    ? error
    : new CliError(`port ${port} of ${address} cannot be had: ${reason}`, { hint: 'see listen in the config' })
}

/** A message of the platform may hold whatever was being worked on: a URL, a key. Where it happened holds nothing. */
const endOfItself = (error: unknown): void => {
  const { name, stack = '' } = error instanceof Error ? error : new Error('no error')
  const places = stack.split('\n').filter((line) => /^\s+at /.test(line))
  process.stderr.write(`keyrail: the service failed in itself (${name})\n${places.join('\n')}\n`)
  process.exit(exitCodes.rejected)
}

/**
 * `keyrail serve`: the service by its config file, until it is told to stop. Its log goes to standard output, a line of JSON for each entry.
 *
 * @param given - The command's arguments.
 * @returns The exit code: 0 after an orderly stop.
 * @throws {CliError} exit code 2 if the config, the environment or the database cannot be used; 1 if it cannot listen.
 */
export async function serve(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0) throw wrongUsage('keyrail serve takes options only', 'see keyrail serve --help')
  if (given.flag('schema')) {
    await printData(JSON.stringify(configJsonSchema(), undefined, 2))
    return exitCodes.ok
  }
  const file = getConfigFile(given)
  if (given.flag('check')) {
    await withConfig(file, () => checkServiceFile(file))
    await print(`${file} can be used`)
    return exitCodes.ok
  }
  const graceMs = (readWholeNumber('--grace', given.text('grace'), { min: 0, max: longestGraceSeconds }) ?? 10) * 1_000
  let skipDrainDelay = (): boolean => false
  const stop = listenForStop(['SIGINT', 'SIGTERM'], () => skipDrainDelay())
  // Before it listens there is nothing to read again, and the signal's own way would be to end the process.
  let reload = (): void => {}
  const hangUp = (): void => reload()
  process.on('SIGHUP', hangUp)
  // Whoever read the log went away: no reason for callers to be left alone.
  process.stdout.on('error', () => {})
  process.on('uncaughtException', endOfItself)
  tuneHeap()
  try {
    const service = await withConfig(file, () =>
      startFromFile({ file, write: process.stdout, dashboard: findDashboardFolder() }),
    )
    reload = () => void service.reload()
    skipDrainDelay = () => service.skipDrainDelay()
    await stop.asked
    await service.close({ graceMs })
    return exitCodes.ok
  } catch (error) {
    throw asListenError(error)
  } finally {
    process.off('SIGHUP', hangUp)
    process.off('uncaughtException', endOfItself)
    stop.forget()
  }
}
