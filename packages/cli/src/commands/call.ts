import { createTransport } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { parseParamList, parseParams } from '../arguments/parseParams.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { printData } from '../output/print.ts'
import { readEndpointOrPrompt, warnAboutKeyInUrl } from './endpoint.ts'

/**
 * `keyrail call METHOD [PARAMS…]`: makes one call and prints its result as JSON.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0. Failures are thrown, and printed by `runMain.ts`.
 * @throws {CliError} exit code 2 for invalid usage.
 * @throws {KeyrailError} if the call fails.
 */
export async function call(given: ReadArguments): Promise<number> {
  const [method, ...words] = given.positionals
  if (method === undefined) throw wrongUsage('keyrail call needs a method', 'for example keyrail call eth_blockNumber')
  const list = given.text('params')
  if (list !== undefined && words.length > 0) {
    throw wrongUsage('--params cannot be combined with other params', 'put them all into the list of --params')
  }
  const params = list === undefined ? parseParams(words) : parseParamList(list)
  const timeoutMs = readWholeNumber('--timeout', given.text('timeout'), { min: 1, max: 3_600_000 })
  await warnAboutKeyInUrl(given)
  const transport = createTransport(await readEndpointOrPrompt(given, process.env))
  try {
    const result = await transport.request({ method, params }, timeoutMs === undefined ? {} : { timeoutMs })
    await printData(given.flag('json') ? JSON.stringify(result) : JSON.stringify(result, undefined, 2))
    return exitCodes.ok
  } finally {
    transport.close()
  }
}
