import { isUtf8 } from 'node:buffer'
import type { AbiParameter, AbiValue } from '../abi/abiType.ts'
import { decodeAbi } from '../abi/decodeAbi.ts'
import { toJsonValue } from '../abi/formatAbiValue.ts'
import { logFormats } from './logFormat.ts'
import type { LineFormatName, LogFormat, LogFormatName } from './logFormat.ts'
import { parseEvent } from './toEventTopic.ts'

/** Gets the indexed parameters of an event. */
export const getIndexed = ({ inputs }: { readonly inputs: readonly AbiParameter[] }): readonly AbiParameter[] =>
  inputs.filter(({ indexed }) => indexed)

const isList = ({ type }: AbiParameter): boolean => type.kind === 'array' || type.kind === 'tuple'
/** Gets the names of parameters. One without a name is called by its position: `arg0`. */
export const getParameterNames = (parameters: readonly AbiParameter[]): readonly string[] =>
  parameters.map(({ name }, index) => (name === '' ? `arg${index}` : name))
/** Whether a topic contains only the hash of the value. */
export const isHashed = (parameter: AbiParameter): boolean => {
  const { type } = parameter
  return isList(parameter) || type.kind === 'string' || (type.kind === 'bytes' && type.size === undefined)
}
const decodeTopic = (parameter: AbiParameter, topic: string): AbiValue =>
  isHashed(parameter) ? topic : (decodeAbi([parameter], topic)[0] as AbiValue)

/** The parameters of a log. */
export interface DecodedLog {
  /** A value for each parameter. Contracts can emit any data: a string that is not UTF-8, and each value if the log does not match the event, is null. */
  readonly values: readonly AbiValue[]
  /** Whether a value could not be decoded. */
  readonly undecoded: boolean
}

/** Decodes the parameters of a log; undefined if the log is of another event: one with the same hash and other indexed parameters. */
export function decodeLog(
  inputs: readonly AbiParameter[],
  { topics, data }: { readonly topics: readonly string[]; readonly data: string },
): DecodedLog | undefined {
  const indexed = getIndexed({ inputs })
  if (topics.length !== indexed.length + 1) return undefined
  let undecoded = false
  const decodeText = (bytes: Buffer): string | null => {
    if (isUtf8(bytes)) return bytes.toString()
    undecoded = true
    return null
  }
  try {
    const fromTopics = indexed.map((parameter, index) => decodeTopic(parameter, topics[index + 1] ?? ''))
    const fromData = decodeAbi(
      inputs.filter((parameter) => !parameter.indexed),
      data,
      decodeText,
    )
    const values = inputs.map((parameter) => (parameter.indexed ? fromTopics : fromData).shift() as AbiValue)
    return { values, undecoded }
  } catch {
    return { values: inputs.map(() => null), undecoded: true }
  }
}

/** Formats JSON in ASCII: a file has one byte per character, and a line no line breaks. */
const toAsciiJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u007F-\uFFFF]/g,
    (letter) => String.raw`\u` + letter.charCodeAt(0).toString(16).padStart(4, '0'),
  )

const toCell = (parameter: AbiParameter, value: AbiValue): string => {
  if (value === null) return ''
  const isJson = !parameter.indexed && (isList(parameter) || parameter.type.kind === 'string')
  return isJson ? `"${toAsciiJson(toJsonValue(value)).replaceAll('"', '""')}"` : String(value)
}

/** Adds the parameters of an event to a format. */
function addDecoded(format: LineFormatName, inputs: readonly AbiParameter[]): LogFormat {
  const { header, line } = logFormats[format]
  const names = getParameterNames(inputs)
  if (format === 'csv') {
    return {
      header: `${[header.trimEnd(), ...names.map((name) => `decoded_${name}`)].join(',')}\r\n`,
      line: (log) => {
        const values = decodeLog(inputs, log)?.values
        const cells = inputs.map((input, index) => (values ? toCell(input, values[index] as AbiValue) : ''))
        return `${[line(log).trimEnd(), ...cells].join(',')}\r\n`
      },
    }
  }
  return {
    header,
    line: (log) => {
      const values = decodeLog(inputs, log)?.values
      const decoded = values
        ? Object.fromEntries(names.map((name, index) => [name, toJsonValue(values[index] as AbiValue)]))
        : null
      return `${line(log).trimEnd().slice(0, -1)},"decoded":${toAsciiJson(decoded)}}\n`
    },
  }
}

/**
 * Gets the line format of an export. That of Parquet is NDJSON, which is converted when it is complete.
 *
 * @param settings - `format`: its name. `decode`: the event whose parameters to add.
 */
export const getLogFormat = ({
  format,
  decode,
}: {
  readonly format: LogFormatName
  readonly decode?: string | undefined
}): LogFormat => {
  if (format === 'parquet') return logFormats.ndjson
  return decode === undefined ? logFormats[format] : addDecoded(format, parseEvent(decode).inputs)
}
