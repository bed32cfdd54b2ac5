import { openCacheTools } from '@keyrail/gateway'
import type { CacheTools } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { readBlock, readLogFilter } from '../logs/readLogFilter.ts'
import { print, printData } from '../output/print.ts'
import { getConfigFile } from './getConfigFile.ts'
import { listenForStop } from './listenForStop.ts'
import { withConfig } from './withConfig.ts'

const showStats = async (given: ReadArguments, { file, getStats }: CacheTools): Promise<void> => {
  const stats = await getStats()
  if (given.flag('json')) {
    await printData(JSON.stringify({ file: file ?? null, ...stats }))
    return
  }
  const toMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
  if (stats.maxBytes !== undefined) {
    await print([
      `The Redis of CACHE_REDIS_URL has ${toMegabytes(stats.bytes)} of ${toMegabytes(stats.maxBytes)} MB.`,
      'It deletes what was not used for longest itself, so what it has of each node is not counted.',
    ])
    return
  }
  const lines = stats.chains.map(
    ({ chain, upstream, spans, entries, unconfirmed }) =>
      `${chain.split(' ')[0] ?? ''}, node ${upstream}: ${spans} spans of logs, ${entries} other results, ${unconfirmed} to confirm`,
  )
  await print([`${file} has ${toMegabytes(stats.bytes)} MB.`, ...lines])
}

const purge = async (given: ReadArguments, tools: CacheTools): Promise<void> => {
  const which = { network: given.text('network'), upstream: given.text('upstream') }
  await tools.purge(which)
  if (given.flag('json'))
    await printData(JSON.stringify({ network: which.network ?? null, upstream: which.upstream ?? null }))
  else {
    const of = which.network === undefined ? 'all networks' : which.network
    const from = which.upstream === undefined ? '' : ` that ${which.upstream} sent`
    await print(`Deleted what the chain store had of ${of}${from}.`)
  }
}

/** Reads a block number. Tags move, and the newest block that can be stored is the default. */
function readNumber(name: string, text: string): number {
  const block = readBlock(name, text)
  if (typeof block === 'number') return block
  throw wrongUsage(`${name} must be the number of a block`, 'use a number such as 21000000')
}

const warm = async (given: ReadArguments, tools: CacheTools): Promise<void> => {
  const { address: addresses, topics } = readLogFilter(given)
  const [first, last] = [given.text('from'), given.text('to')]
  if (first === undefined || addresses.length === 0)
    throw wrongUsage('keyrail cache warm needs --from and --address', 'see keyrail cache --help')
  const from = readNumber('--from', first)
  const to = last === undefined ? undefined : readNumber('--to', last)
  const interrupt = new AbortController()
  const stop = listenForStop()
  void stop.requested.then(() => interrupt.abort())
  const network = given.text('network')
  const {
    next,
    to: end,
    failure,
  } = await tools.warm({ network, addresses, topics, from, to, signal: interrupt.signal }).finally(stop.dispose)
  const hint = `keyrail cache warm --from ${next} reads the rest`
  if (failure !== undefined) throw new CliError(`the logs were read up to block ${next - 1}: ${failure}`, { hint })
  if (next <= end) throw new CliError('interrupted', { hint, exitCode: exitCodes.interrupted })
  if (given.flag('json')) await printData(JSON.stringify({ from, to: end }))
  else await print(end < from ? `Block ${from} is not final yet.` : `The logs of blocks ${from} to ${end} were read.`)
}

const actions = { stats: showStats, purge, warm }
const isAction = (name: string | undefined): name is keyof typeof actions =>
  name !== undefined && Object.hasOwn(actions, name)

/**
 * `keyrail cache stats`, `purge` and `warm`: shows, deletes or fills what the chain store of a service has.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage or config; 1 if not all logs could be read; 130 if interrupted.
 */
export async function cache(given: ReadArguments): Promise<number> {
  const [name, ...more] = given.positionals
  if (!isAction(name) || more.length > 0)
    throw wrongUsage('keyrail cache needs an action: stats, purge or warm', 'see keyrail cache --help')
  const file = getConfigFile(given)
  await withConfig(file, async () => {
    const tools = await openCacheTools(file)
    try {
      await actions[name](given, tools)
    } finally {
      await tools.close()
    }
  })
  return exitCodes.ok
}
