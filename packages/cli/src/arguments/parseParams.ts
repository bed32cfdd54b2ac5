import { wrongUsage } from '../cliError.ts'

/** JSON.parse would silently round numbers above 2^53. */
function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw wrongUsage(
        `the number ${context?.source ?? ''} is too large for a JSON number`,
        'write it as a hex string in double quotes: "0x…"',
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
      `${place} is not valid JSON`,
      `put single quotes around it, so that the shell preserves its double quotes: '{"fromBlock":"0x0"}'`,
    )
  }
}

function parseParam(text: string, place: string): unknown {
  if (/^\d+$/.test(text)) {
    if (text.length > 1 && text.startsWith('0')) {
      throw wrongUsage(`${place} is a number with a leading zero`, 'write 12 for decimal, or 0x12 for hex')
    }
    return `0x${BigInt(text).toString(16)}`
  }
  if (/^-?\d*\.?\d+(e[+-]?\d+)?$/i.test(text)) {
    throw wrongUsage(
      `${place} is a number that is not a JSON-RPC quantity`,
      'use a whole number that is not negative, or --params to send a JSON number',
    )
  }
  if (/^[[{"]/.test(text.trimStart())) return parseJson(text, place)
  if (text === 'true' || text === 'false' || text === 'null') return JSON.parse(text) as boolean | null
  return text
}

/**
 * Parses the params of `keyrail call`.
 *
 * - A param that starts with `{`, `[` or `"` must be JSON. `true`, `false` and `null` are JSON, too.
 * - A whole decimal number becomes a hex quantity, as Ethereum's JSON-RPC requires: `12` is sent as `"0xc"`.
 * - Anything else is a string: `latest`, `0x5fbd…`.
 *
 * Numbers inside JSON are unchanged, because fee percentiles and tracer options are JSON numbers.
 *
 * @throws {CliError} exit code 2 for invalid JSON, a number that is not a quantity, or a JSON number that would be rounded.
 * @see https://ethereum.org/developers/docs/apis/json-rpc/#quantities-encoding
 * @example
 * parseParams(['12', 'false']) // ['0xc', false]
 */
export function parseParams(words: readonly string[]): unknown[] {
  return words.map((word, index) => parseParam(word, `param ${index + 1}`))
}

/**
 * Parses `--params`: all params as a JSON array, sent unchanged.
 *
 * @throws {CliError} exit code 2 if it is not a JSON array.
 */
export function parseParamList(text: string): unknown[] {
  const list = parseJson(text, '--params')
  if (!Array.isArray(list))
    throw wrongUsage('--params must be a JSON array', `for example --params '["latest", false]'`)
  return list as unknown[]
}
