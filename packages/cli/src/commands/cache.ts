import { openCacheTools } from '@keyrail/gateway'
import type { CacheTools } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { print, printData } from '../output/print.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

const showStats = async (given: ReadArguments, { file, getStats }: CacheTools): Promise<void> => {
  const stats = await getStats()
  if (given.flag('json')) {
    await printData(JSON.stringify({ file, ...stats }))
    return
  }
  const lines = stats.chains.map(
    ({ chain, upstream, spans, entries, unconfirmed }) =>
      `${chain.split(' ')[0] ?? ''}, node ${upstream}: ${spans} spans of logs, ${entries} other results, ${unconfirmed} empty ranges to confirm`,
  )
  await print([`${file} has ${(stats.bytes / 1e6).toFixed(1)} MB.`, ...lines])
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

/**
 * `keyrail cache stats` and `keyrail cache purge`: shows or deletes what the chain store of a service has.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage or config.
 */
export async function cache(given: ReadArguments): Promise<number> {
  const [name, ...more] = given.positionals
  if ((name !== 'stats' && name !== 'purge') || more.length > 0)
    throw wrongUsage('keyrail cache needs an action: stats or purge', 'see keyrail cache --help')
  const file = getConfigFile(given)
  await withConfig(file, async () => {
    const tools = await openCacheTools(file)
    try {
      await (name === 'stats' ? showStats : purge)(given, tools)
    } finally {
      await tools.close()
    }
  })
  return exitCodes.ok
}
