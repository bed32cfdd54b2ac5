import {
  checkNodes,
  checkCacheRedis,
  checkRedis,
  checkServiceFile,
  checkStoredKeys,
  configJsonSchema,
  parseServiceConfig,
  startFromConfig,
  startFromFile,
  tuneHeap,
} from '@keyrail/gateway'
import type { CloseOptions } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { findDashboardFolder } from '../output/findDashboardFolder.ts'
import { formatNodeChecks } from '../output/formatNodeChecks.ts'
import { getStyle } from '../output/style.ts'
import { print, printData, printNote, printSecrets } from '../output/print.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { listenForStop } from './listenForStop.ts'
import { getConfigFile } from './getConfigFile.ts'
import { provideSecret, readShortConfig, writeConfigFile } from './shortConfig.ts'
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
        hint: `${code === 'EADDRINUSE' ? 'stop the program that uses it, or ' : ''}change it in the config: listen, control.listen or prometheus; without a config file, with --port`,
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
  const cache = await withConfig(file, () => checkCacheRedis(file))
  if (cache !== undefined)
    await print(
      cache.problem === undefined
        ? 'The Redis of the chain store responds'
        : `The Redis of the chain store cannot be used, and calls would go to nodes: ${cache.problem}`,
    )
  if (!nodes) {
    await print('The nodes were not asked for their chains: add --nodes')
    return exitCodes.ok
  }
  const checks = await withConfig(file, () => checkNodes(file))
  await print(formatNodeChecks(checks, getStyle(process.stdout)))
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

type RunningService = Awaited<ReturnType<typeof startFromFile>>

/** Starts the service of a config file, or that of `--network` and `--upstream`. */
async function start(given: ReadArguments): Promise<RunningService> {
  const file = getConfigFile(given)
  const options = {
    write: process.stdout,
    dashboard: findDashboardFolder(),
    version: readVersion(),
    newSecret: given.flag('new-secret'),
  }
  const config = await readShortConfig(given)
  if (config === undefined) return withConfig(file, () => startFromFile({ ...options, file }))
  // Before anything is written.
  await withConfig(undefined, () => parseServiceConfig(config))
  const environment = provideSecret(process.env)
  const writes = given.flag('write-config')
  if (writes) {
    writeConfigFile(file, config)
    const { KEYRAIL_SECRET_FILE: secretFile } = environment
    await printNote(
      `Wrote ${file}. Next time, start with: ${secretFile ? `KEYRAIL_SECRET_FILE=${secretFile} ` : ''}keyrail serve`,
    )
  }
  const service = await (writes
    ? withConfig(file, () => startFromFile({ ...options, file, environment }))
    : withConfig(undefined, () => startFromConfig({ ...options, config, environment })))
  try {
    await printFirstOperator(service)
    return service
  } catch (error) {
    await service.close({ graceMs: 0 })
    throw error
  }
}

/** On the first start of a service, prints how to use it. */
async function printFirstOperator(service: RunningService): Promise<void> {
  const first = await service.provideOperator()
  if (first === undefined) return
  await printSecrets([
    `Set the password of the operator ${first.email}, with this link, which works once:`,
    `  ${first.link}`,
    'RPC URLs of the first app, with its key:',
    ...Object.entries(first.urls).map(([network, url]) => `  ${network}  ${url}`),
  ])
}

/**
 * `keyrail serve`: runs the service of a config file, or of `--network` and `--upstream`, until it is stopped. It logs to standard output, one line of JSON per entry.
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
  if (given.flag('check')) {
    await readShortConfig(given)
    return checkAll(getConfigFile(given), { newSecret: given.flag('new-secret'), nodes: given.flag('nodes') })
  }
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
    const service = await start(given)
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
