const each = (secret: string, write: (char: string) => string): string => Array.from(secret, write).join('')
const toHex = (char: string): string => char.charCodeAt(0).toString(16).padStart(2, '0')
const toBase64 = (text: string): string => Buffer.from(text).toString('base64')
const bytesToHex = (text: string): string => Buffer.from(text).toString('hex')

/** The ways in which a server can repeat a secret in its messages, by name. */
export const secretSpellings: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'in upper case': (secret) => secret.toUpperCase(),
  'without its last character': (secret) => secret.slice(0, -1),
  'without its first character': (secret) => secret.slice(1),
  'its first 16 characters': (secret) => secret.slice(0, 16),
  'its last 8 characters': (secret) => secret.slice(-8),
  'in base64': toBase64,
  'in base64 without padding': (secret) => toBase64(secret).replace(/=+$/, ''),
  'in base64url': (secret) => Buffer.from(secret).toString('base64url'),
  'in the base64 of a URL': (secret) => toBase64(`https://node.example/v2/${secret}?x=1`),
  'in the base64 of a longer URL': (secret) => toBase64(`https://node1.example/v2/${secret}?x=1`),
  'in the base64url of a URL still longer': (secret) =>
    Buffer.from(`https://node10.example/v2/${secret}?x=1`).toString('base64url'),
  'in base64 with line breaks': (secret) =>
    toBase64(`https://node.example/some/long/path/${secret}`).replace(/.{20}/g, '$&\n'),
  'in base64, percent-encoded': (secret) => encodeURIComponent(toBase64(`?${secret}`)),
  'part of it in base64': (secret) => toBase64(secret.slice(3, 15)),
  'in hex': bytesToHex,
  'in hex with 0x, in upper case': (secret) => `0x${bytesToHex(secret).toUpperCase()}`,
  'in hex of a longer text': (secret) => `0x0${bytesToHex(`/v2/${secret}/`)}`,
  'in hex with spaces': (secret) => each(secret, (char) => `${toHex(char)} `),
  'part of it in hex': (secret) => bytesToHex(secret.slice(5, 15)),
  'percent-encoded': (secret) => each(secret, (char) => `%${toHex(char)}`),
  'percent-encoded in part': (secret) => each(secret, (char) => (/[aeiou]/i.test(char) ? `%${toHex(char)}` : char)),
  'percent-encoded twice': (secret) => encodeURIComponent(each(secret, (char) => `%${toHex(char)}`)),
  'percent-encoded twice, each character': (secret) =>
    each(
      each(secret, (char) => `%${toHex(char)}`),
      (char) => `%${toHex(char)}`,
    ),
  'percent-encoded three times': (secret) =>
    encodeURIComponent(encodeURIComponent(each(secret, (char) => `%${toHex(char)}`))),
  'in JSON escapes': (secret) => each(secret, (char) => `\\u00${toHex(char)}`),
  'in JSON escapes in a JSON text': (secret) => JSON.stringify(each(secret, (char) => `\\u00${toHex(char)}`)),
  'in C escapes': (secret) => each(secret, (char) => `\\x${toHex(char)}`),
  'in HTML entities': (secret) => each(secret, (char) => `&#x${toHex(char)};`),
  'with spaces': (secret) => each(secret, (char) => `${char} `),
  'with dashes': (secret) => Array.from(secret).join('-'),
  'in groups of four': (secret) => secret.replace(/.{4}/g, '$& '),
  'in groups with line breaks': (secret) => secret.replace(/.{6}/g, '$&\n'),
  'with zero-width spaces': (secret) => Array.from(secret).join('\u200b'),
  'as a list of characters': (secret) => JSON.stringify(Array.from(secret)),
}

/** The texts in which a secret could be read: the text itself, without escapes, and decoded from hex or base64. */
const getReadings = (text: string): readonly string[] => {
  const views = [text]
  for (let level = 0; level < 4; level += 1)
    views.push(
      (views.at(-1) ?? '').replace(
        /%([\da-f]{2})|\\u00([\da-f]{2})|\\x([\da-f]{2})|&#x([\da-f]{2});|\\(.)/gi,
        (_, ...found) => {
          const [percent, json, c, html, char] = found as (string | undefined)[]
          return char ?? String.fromCharCode(parseInt(percent ?? json ?? c ?? html ?? '', 16))
        },
      ),
    )
  return views.flatMap((view) => [
    view,
    view.replace(/[^a-z\d]/gi, ''),
    ...[0, 1].map((skip) => Buffer.from(view.replace(/[^a-f\d]/gi, '').slice(skip), 'hex').toString('latin1')),
    ...[0, 1, 2, 3].map((skip) => Buffer.from(view.replace(/[^\w+/-]/g, '').slice(skip), 'base64').toString('latin1')),
  ])
}

/** The runs of 8 characters of a secret that can be read in a text. */
export const readableRuns = (text: string, secret: string): readonly string[] => {
  const readings = getReadings(text).map((reading) => reading.toLowerCase())
  const runs: string[] = []
  for (const one of [secret, secret.replace(/[^a-z\d]/gi, '')].map((it) => it.toLowerCase()))
    for (let at = 0; at + 8 <= one.length; at += 1) {
      const run = one.slice(at, at + 8)
      if (readings.some((reading) => reading.includes(run))) runs.push(run)
    }
  return runs
}
