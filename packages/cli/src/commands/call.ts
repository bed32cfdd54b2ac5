import { createTransport, isKeyrailError } from '@keyrail/core'
import type { EndpointUrlOptions } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { parseParamList, parseParams } from '../arguments/parseParams.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { createContractCall, isAddress } from '../call/contractCall.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { formatAbiValue, toJsonValue } from '../abi/formatAbiValue.ts'
import { print, printData, printNote } from '../output/print.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import { readEndpointOrPrompt, warnAboutKeyInUrl } from './endpoint.ts'

/** One call: the request, and how to print its result. */
interface PlannedCall {
  readonly method: string
  readonly params: readonly unknown[]
  readonly show: (result: unknown) => Promise<void>
}

const undecodedNote = [
  'keyrail: the result is not decoded',
  "  hint: add its types to the signature, for example 'balanceOf(address)(uint256)'",
]

function planContractCall(given: ReadArguments): PlannedCall {
  const { to, data, decode, isDecoded } = createContractCall(given.positionals)
  const [block] = parseParams([given.text('block') ?? 'latest'])
  if (given.text('params') !== undefined)
    throw wrongUsage('--params is for JSON-RPC methods', 'put the arguments after the signature')
  return {
    method: 'eth_call',
    params: [{ to, data }, block],
    show: async (result) => {
      const values = decode(result)
      const [value] = values
      if (given.flag('json')) {
        const json = values.map(toJsonValue)
        await printData(JSON.stringify(values.length === 1 ? json[0] : json))
      } else if (value !== undefined) {
        await print(values.map((one) => stripControlCharacters(formatAbiValue(one))))
        if (!isDecoded) await printNote(undecodedNote)
      }
    },
  }
}

function planMethodCall(given: ReadArguments): PlannedCall {
  const [method, ...words] = given.positionals
  if (method === undefined) throw wrongUsage('keyrail call needs a method', 'for example keyrail call eth_blockNumber')
  const list = given.text('params')
  if (list !== undefined && words.length > 0) {
    throw wrongUsage('--params cannot be combined with other params', 'put them all into the list of --params')
  }
  if (given.text('block') !== undefined)
    throw wrongUsage('--block is for contract calls', 'pass the block as a param of the method')
  return {
    method,
    params: list === undefined ? parseParams(words) : parseParamList(list),
    show: (result) => printData(JSON.stringify(result, undefined, given.flag('json') ? undefined : 2)),
  }
}

/** Makes a call and prints the response as received. @returns The exit code. */
async function callRaw(
  endpoint: EndpointUrlOptions,
  { method, params }: PlannedCall,
  timeoutMs: number | undefined,
): Promise<number> {
  let body: string | undefined
  const transport = createTransport({
    ...endpoint,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      body = await response.clone().text()
      return response
    },
  })
  try {
    await transport.request({ method, params }, timeoutMs === undefined ? {} : { timeoutMs })
  } catch (error) {
    if (body === undefined || !isKeyrailError(error) || error.rpcError === undefined) throw error
    await printData(body.trimEnd())
    return exitCodes.rejected
  } finally {
    transport.close()
  }
  await printData((body ?? '').trimEnd())
  return exitCodes.ok
}

/**
 * `keyrail call METHOD [PARAMS…]`: makes one call and prints its result as JSON.
 * `keyrail call ADDRESS SIGNATURE [ARGS…]`: calls a function of a contract, and prints its decoded results.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0; 1 with `--raw` if the response is an error. Other failures are thrown, and printed by `runMain.ts`.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the result does not match the signature.
 * @throws {KeyrailError} if the call fails.
 */
export async function call(given: ReadArguments): Promise<number> {
  const planned = isAddress(given.positionals[0]) ? planContractCall(given) : planMethodCall(given)
  const timeoutMs = readWholeNumber('--timeout', given.text('timeout'), { min: 1, max: 3_600_000 })
  await warnAboutKeyInUrl(given)
  const endpoint = await readEndpointOrPrompt(given, process.env)
  if (given.flag('raw')) return callRaw(endpoint, planned, timeoutMs)
  const transport = createTransport(endpoint)
  try {
    const { method, params } = planned
    await planned.show(await transport.request({ method, params }, timeoutMs === undefined ? {} : { timeoutMs }))
    return exitCodes.ok
  } finally {
    transport.close()
  }
}
