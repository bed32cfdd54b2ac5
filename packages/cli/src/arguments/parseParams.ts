import { wrongUsage } from '../cliError.ts'

/** Numbers past 2^53 would change silently on their way through JSON.parse. */
function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw wrongUsage(
        `the number ${context?.source ?? ''} is too large to be sent exactly as a JSON number`,
        'write it as a 0x-prefixed hex string in double quotes',
      )
    }
    return value
  }) as unknown
}

function parseJson(text: string, place: string): unknown {
  try {
    return parseExactly(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw wrongUsage(
      `${place} starts like JSON and is not: it does not parse`,
      `put single quotes around it, so that the shell keeps its double quotes: '{"fromBlock":"0x0"}'`,
    )
  }
}

function parseParam(text: string, place: string): unknown {
  if (/^\d+$/.test(text)) {
    if (text.length > 1 && text.startsWith('0')) {
      throw wrongUsage(`${place} is a number that starts with 0`, 'write 12 for twelve, 0x12 for eighteen')
    }
    return `0x${BigInt(text).toString(16)}`
  }
  if (/^-?\d*\.?\d+(e[+-]?\d+)?$/i.test(text)) {
    throw wrongUsage(
      `${place} is a number that JSON-RPC has no quantity for`,
      'quantities are whole and not negative; to send a number as it is, use --params',
    )
  }
  if (/^[[{"]/.test(text.trimStart())) return parseJson(text, place)
  if (text === 'true' || text === 'false' || text === 'null') return JSON.parse(text) as boolean | null
  return text
}

/**
 * Reads the params of `keyrail call` from the words of the command line.
 *
 * - what starts with `{`, `[` or `"` must be JSON and is sent as such; so are `true`, `false` and `null`
 * - a whole decimal number becomes a hex quantity: `12` is sent as `"0xc"`, because Ethereum's JSON-RPC writes quantities so
 * - everything else is a string: `latest`, `0x5fbd…`
 *
 * Numbers inside JSON are left as they are: fee percentiles and tracer options are true JSON numbers.
 *
 * @throws {CliError} exit code 2: broken JSON, a negative or broken number, a number that JSON cannot carry exactly.
 * @see https://ethereum.org/developers/docs/apis/json-rpc/#quantities-encoding
 * @example
 * parseParams(['12', 'false']) // ['0xc', false]
 */
export function parseParams(words: readonly string[]): unknown[] {
  return words.map((word, index) => parseParam(word, `param ${index + 1}`))
}

/**
 * Reads `--params`: the whole list as JSON, sent as it is.
 *
 * @throws {CliError} exit code 2 where it is not a JSON array.
 */
export function parseParamList(text: string): unknown[] {
  const list = parseJson(text, '--params')
  if (!Array.isArray(list))
    throw wrongUsage('--params must be a JSON array', `for example --params '["latest", false]'`)
  return list as unknown[]
}
