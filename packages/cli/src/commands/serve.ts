import {
  checkNodes,
  checkRedis,
  checkServiceFile,
  checkStoredKeys,
  configJsonSchema,
  startFromFile,
  tuneHeap,
} from '@keyrail/gateway'
import type { CloseOptions } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { findDashboardFolder } from '../output/findDashboardFolder.ts'
import { formatTable } from '../output/formatTable.ts'
import { getStyle } from '../output/style.ts'
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

/** `--check`: checks the config, the secret against the stored keys, Redis, and with `--nodes` the chain of each node. */
async function checkAll(file: string, { newSecret, nodes }: { newSecret: boolean; nodes: boolean }): Promise<number> {
  await withConfig(file, () => checkServiceFile(file))
  const keys = await withConfig(file, () => checkStoredKeys(file, { newSecret }))
  await print([
    `${file} is valid`,
    'unknown' in keys
      ? `The secret was not checked against stored keys: ${keys.unknown}`
      : `The secret decrypts ${keys.decrypted} of ${keys.stored} stored keys`,
  ])
  const redis = await withConfig(file, () => checkRedis(file))
  if (redis !== undefined)
    await print(
      redis.problem === undefined
        ? 'Redis responds'
        : `Redis cannot be used, and the service would start without it: ${redis.problem}`,
    )
  if (!nodes) {
    await print('The nodes were not asked for their chains: add --nodes')
    return exitCodes.ok
  }
  const style = getStyle(process.stdout)
  const checks = await withConfig(file, () => checkNodes(file))
  await print(
    formatTable(
      checks.map(({ network, upstream, redactedUrl, problem }) => [
        network,
        upstream,
        redactedUrl,
        problem === undefined ? style.good('right chain') : style.bad(problem),
      ]),
    ),
  )
  const wrong = checks.filter(({ problem }) => problem !== undefined)
  if (wrong.length === 0) return exitCodes.ok
  const { network, upstream, member, problem } = wrong[0] as (typeof wrong)[number]
  throw new CliError(
    wrong.length === 1
      ? `the ${member} of ${upstream} cannot be used for ${network}: ${problem}`
      : `${wrong.length} of ${checks.length} URLs of nodes cannot be used`,
    { hint: 'correct them in the config, or the chainId of their networks', exitCode: exitCodes.usage },
  )
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
  const newSecret = given.flag('new-secret')
  if (given.flag('check')) return checkAll(file, { newSecret, nodes: given.flag('nodes') })
  if (given.flag('nodes')) throw wrongUsage('--nodes needs --check', 'add --check')
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
      startFromFile({
        file,
        write: process.stdout,
        dashboard: findDashboardFolder(),
        version: readVersion(),
        newSecret,
      }),
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
