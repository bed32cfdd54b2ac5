import { createTransport } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { parseParamList, parseParams } from '../arguments/parseParams.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { printData } from '../output/print.ts'
import { readEndpointOrPrompt, warnAboutKeyInUrl } from './endpoint.ts'

/**
 * `keyrail call METHOD [PARAMS…]`: one call, its result on standard output as JSON.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0. A failure is thrown, and `runMain.ts` prints it.
 * @throws {CliError} exit code 2 for a wrong command line.
 * @throws {KeyrailError} with the kind of failure.
 */
export async function call(given: ReadArguments): Promise<number> {
  const [method, ...words] = given.positionals
  if (method === undefined) throw wrongUsage('keyrail call needs a method', 'for example keyrail call eth_blockNumber')
  const list = given.text('params')
  if (list !== undefined && words.length > 0) {
    throw wrongUsage('--params is the whole list: no further params can follow', 'put them into the list')
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
