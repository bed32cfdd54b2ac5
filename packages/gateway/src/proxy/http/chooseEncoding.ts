/** A content coding that responses can have. Brotli comes first: at the levels used here it takes less CPU than gzip, and sends fewer bytes. */
const encodings = ['br', 'gzip'] as const

/** The content coding of a compressed response. */
export type Encoding = (typeof encodings)[number]

/** Browsers send less than 30 characters. Parsing the 16 kB that a header may have would take milliseconds. */
const maxHeaderLength = 256

/** @returns The weight of each coding in an `Accept-Encoding` header. An invalid weight counts as 0, because an uncompressed response is always understood. */
const parseWeights = (header: string): ReadonlyMap<string, number> => {
  const weights = new Map<string, number>()
  for (const entry of header.split(',')) {
    const [coding = '', parameter = 'q=1'] = entry.split(';', 2)
    const [name = '', value = ''] = parameter.split('=', 2)
    const weight = name.trim().toLowerCase() === 'q' ? Number(value) : 0
    weights.set(coding.trim().toLowerCase(), weight >= 0 && weight <= 1 ? weight : 0)
  }
  return weights
}

/**
 * Chooses how to compress a response: the coding with the highest weight, brotli if both have the same.
 * @param header - The request's `Accept-Encoding`. Without one, or with more than 256 characters, the response is not compressed.
 * @returns `undefined` if the client accepts no coding, or prefers `identity`.
 * @see RFC 9110 section 12.5.3
 * @example
 * chooseEncoding('gzip, deflate') // 'gzip'
 * chooseEncoding('gzip, br;q=0') // 'gzip'
 */
export const chooseEncoding = (header: string | undefined): Encoding | undefined => {
  if (header === undefined || header.length > maxHeaderLength) return undefined
  const weights = parseWeights(header)
  const getWeight = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0
  const identity = getWeight('identity')
  let chosen: Encoding | undefined
  for (const encoding of encodings) {
    const weight = getWeight(encoding)
    if (weight > 0 && weight >= identity && (chosen === undefined || weight > getWeight(chosen))) chosen = encoding
  }
  return chosen
}
