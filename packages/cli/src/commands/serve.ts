import { checkServiceFile, configJsonSchema, startFromFile, tuneHeap } from '@keyrail/gateway'
import type { CloseOptions } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { findDashboardFolder } from '../output/findDashboardFolder.ts'
import { print, printData } from '../output/print.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { listenForStop } from './listenForStop.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'
import { readVersion } from '../readVersion.ts'

const longestGraceSeconds = 3_600

/** Descriptions of the system's error codes. */
const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such IP address',
}

const toListenError = (error: unknown): unknown => {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  const reason = code === undefined ? undefined : listenReasons[code]
  return reason === undefined
    ? error
    : new CliError(`cannot listen on port ${port} of ${address}: ${reason}`, {
        hint: `${code === 'EADDRINUSE' ? 'stop the program that uses it, or ' : ''}change it in the config: listen, control.listen or prometheus`,
      })
}

/** Ctrl-C means that someone waits at a terminal, and no load balancer has to notice. */
const toCloseOptions = (signal: NodeJS.Signals, graceMs: number): CloseOptions =>
  signal === 'SIGINT' ? { graceMs, drainDelayMs: 0 } : { graceMs }

/** Prints the stack without the message, which may contain a URL or a key, and exits. */
const exitOnUncaught = (error: unknown): void => {
  const { name, stack = '' } = error instanceof Error ? error : new Error('no error')
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  process.stderr.write(`keyrail: internal error (${name})\n${frames.join('\n')}\n`)
  process.exit(exitCodes.rejected)
}

/**
 * `keyrail serve`: runs the service with a config file, until it is stopped. It logs to standard output, one line of JSON per entry.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0 after a graceful stop.
 * @throws {CliError} exit code 2 if the config, the environment or the database cannot be used; 1 if it cannot listen.
 */
export async function serve(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0)
    throw wrongUsage('keyrail serve takes no arguments, only options', 'see keyrail serve --help')
  if (given.flag('schema')) {
    await printData(JSON.stringify(configJsonSchema(), undefined, 2))
    return exitCodes.ok
  }
  const file = getConfigFile(given)
  if (given.flag('check')) {
    await withConfig(file, () => checkServiceFile(file))
    await print(`${file} is valid`)
    return exitCodes.ok
  }
  const graceMs = (readWholeNumber('--grace', given.text('grace'), { min: 0, max: longestGraceSeconds }) ?? 10) * 1_000
  let skipDrainDelay = (): boolean => false
  const stop = listenForStop(['SIGINT', 'SIGTERM'], () => skipDrainDelay())
  // Before the service listens there is nothing to reload, but the signal's default would exit the process.
  let reload = (): void => {}
  const hangUp = (): void => reload()
  process.on('SIGHUP', hangUp)
  // If the reader of the log goes away, the service continues.
  process.stdout.on('error', () => {})
  process.on('uncaughtException', exitOnUncaught)
  tuneHeap()
  try {
    const service = await withConfig(file, () =>
      startFromFile({ file, write: process.stdout, dashboard: findDashboardFolder(), version: readVersion() }),
    )
    reload = () => void service.reload()
    skipDrainDelay = () => service.skipDrainDelay()
    await service.close(toCloseOptions(await stop.requested, graceMs))
    return exitCodes.ok
  } catch (error) {
    throw toListenError(error)
  } finally {
    process.off('SIGHUP', hangUp)
    process.off('uncaughtException', exitOnUncaught)
    stop.dispose()
  }
}
