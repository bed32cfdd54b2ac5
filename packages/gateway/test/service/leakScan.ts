/** Something that nobody may find. */
export interface Secret {
  /** What it is called where it is found. */
  readonly name: string
  readonly text: string
  /** Whether a part of it says nothing yet, as of a host and port. @default false */
  readonly whole?: boolean
}

/** Where it might be found. */
export interface Place {
  readonly name: string
  readonly bytes: Buffer | string
}

/** So many characters of a random secret, in whatever form, are no accident. */
const partLength = 12

const everyByte = (bytes: Buffer, write: (byte: number) => string): string => [...bytes].map(write).join('')
const hexOf = (byte: number): string => byte.toString(16).padStart(2, '0')

/** In the middle of a longer text base64 begins at any of three places; what depends on the neighbours is left out. */
const inBase64 = (bytes: Buffer): string[] =>
  [0, 1, 2].map((lead) => {
    const text = Buffer.concat([Buffer.alloc(lead), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const end = (lead + bytes.length) % 3 === 0 ? text.length : text.length - 1
    return text.slice(lead === 0 ? 0 : lead + 1, end)
  })

/** The forms in which a text may stand somewhere. Of bytes that are none of its characters, one character each. */
export const formsOf = (text: string): ReadonlyMap<string, readonly string[]> => {
  const bytes = Buffer.from(text)
  const base64 = inBase64(bytes)
  return new Map([
    ['as it is', [bytes.toString('latin1')]],
    ['in another case', [text.toLowerCase(), text.toUpperCase()]],
    [
      'percent-encoded',
      [
        encodeURIComponent(text),
        everyByte(bytes, (byte) => `%${hexOf(byte)}`),
        everyByte(bytes, (byte) => `%${hexOf(byte).toUpperCase()}`),
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
        everyByte(bytes, (byte) => String.raw`\u00${hexOf(byte)}`),
      ],
    ],
    ['in UTF-16', [Buffer.from(text, 'utf16le').toString('latin1')]],
    // What is random is often written in base64, and kept as the bytes.
    ['decoded', /^[\w-]{22,}$/.test(text) ? [Buffer.from(text, 'base64url').toString('latin1')] : []],
  ])
}

/** Where two forms have a part in common, it is told of as the plainer of them. */
const setFirst = (parts: Map<string, string>, part: string, what: string): void => {
  if (!parts.has(part)) parts.set(part, what)
}

/**
 * Looks for secrets, and for parts of them of 12 characters, in every form.
 * @returns `NAME FORM in PLACE`, once for each.
 */
export const findSecrets = (secrets: readonly Secret[], places: readonly Place[]): string[] => {
  const parts = new Map<string, string>()
  const wholes: [string, string][] = []
  for (const { name, text, whole = false } of secrets)
    for (const [form, texts] of formsOf(text))
      for (const one of texts) {
        const what = `${name} ${form}`
        if (whole || one.length <= partLength) wholes.push([one, what])
        else
          for (let from = 0; from + partLength <= one.length; from += 1)
            setFirst(parts, one.slice(from, from + partLength), what)
      }
  const found = new Set<string>()
  for (const { name, bytes } of places) {
    const text = Buffer.from(bytes).toString('latin1')
    for (let from = 0; from + partLength <= text.length; from += 1) {
      const what = parts.get(text.slice(from, from + partLength))
      if (what !== undefined) found.add(`${what} in ${name}`)
    }
    for (const [one, what] of wholes) if (one !== '' && text.includes(one)) found.add(`${what} in ${name}`)
  }
  return [...found]
}
