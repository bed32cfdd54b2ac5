/** A secret to search for. */
export interface Secret {
  /** Its name in the results. */
  readonly name: string
  readonly text: string
  /** Whether to search for the whole text only, such as a host and port. @default false */
  readonly whole?: boolean
}

/** Data to search in. */
export interface ScanTarget {
  readonly name: string
  readonly bytes: Buffer | string
}

/** This many characters of a random secret, in any encoding, are no coincidence. */
const partLength = 12

const everyByte = (bytes: Buffer, write: (byte: number) => string): string => [...bytes].map(write).join('')
const toHex = (byte: number): string => byte.toString(16).padStart(2, '0')

/** Within a longer text, base64 can start at any of three offsets. Characters that depend on the surrounding bytes are left out. */
const inBase64 = (bytes: Buffer): string[] =>
  [0, 1, 2].map((lead) => {
    const text = Buffer.concat([Buffer.alloc(lead), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const end = (lead + bytes.length) % 3 === 0 ? text.length : text.length - 1
    return text.slice(lead === 0 ? 0 : lead + 1, end)
  })

/** The encodings of a text by name. Bytes that are not characters are latin1. */
export const getEncodings = (text: string): ReadonlyMap<string, readonly string[]> => {
  const bytes = Buffer.from(text)
  const base64 = inBase64(bytes)
  return new Map([
    ['as plain text', [bytes.toString('latin1')]],
    ['in another case', [text.toLowerCase(), text.toUpperCase()]],
    [
      'percent-encoded',
      [
        encodeURIComponent(text),
        everyByte(bytes, (byte) => `%${toHex(byte)}`),
        everyByte(bytes, (byte) => `%${toHex(byte).toUpperCase()}`),
      ],
    ],
    ['in base64', base64],
    ['in base64url', base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_'))],
    ['in hex', [bytes.toString('hex'), bytes.toString('hex').toUpperCase()]],
    [
      'JSON-escaped',
      [
        JSON.stringify(text).slice(1, -1),
        JSON.stringify(text)
          .slice(1, -1)
          .replaceAll('/', String.raw`\/`),
        everyByte(bytes, (byte) => String.raw`\u00${toHex(byte)}`),
      ],
    ],
    ['in UTF-16', [Buffer.from(text, 'utf16le').toString('latin1')]],
    // Random text is often base64 and stored as bytes.
    ['decoded', /^[\w-]{22,}$/.test(text) ? [Buffer.from(text, 'base64url').toString('latin1')] : []],
  ])
}

/** If encodings share a part, the first one is reported. */
const setFirst = (parts: Map<string, string>, part: string, match: string): void => {
  if (!parts.has(part)) parts.set(part, match)
}

/**
 * Searches for secrets and for any 12 consecutive characters of them, in all encodings.
 * @returns `NAME ENCODING in TARGET` for each match, without duplicates.
 */
export const findSecrets = (secrets: readonly Secret[], targets: readonly ScanTarget[]): string[] => {
  const parts = new Map<string, string>()
  const wholes: [string, string][] = []
  for (const { name, text, whole = false } of secrets)
    for (const [encoding, texts] of getEncodings(text))
      for (const one of texts) {
        const match = `${name} ${encoding}`
        if (whole || one.length <= partLength) wholes.push([one, match])
        else
          for (let from = 0; from + partLength <= one.length; from += 1)
            setFirst(parts, one.slice(from, from + partLength), match)
      }
  const found = new Set<string>()
  for (const { name, bytes } of targets) {
    const text = Buffer.from(bytes).toString('latin1')
    for (let from = 0; from + partLength <= text.length; from += 1) {
      const match = parts.get(text.slice(from, from + partLength))
      if (match !== undefined) found.add(`${match} in ${name}`)
    }
    for (const [one, match] of wholes) if (one !== '' && text.includes(one)) found.add(`${match} in ${name}`)
  }
  return [...found]
}
