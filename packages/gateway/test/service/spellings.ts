import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Place } from './places.ts'

/** The plain text of a secret and its common encodings. */
export const getEncodings = (secret: string): Buffer[] => {
  const bytes = Buffer.from(secret)
  // Within a longer text, base64 can start at any of three offsets. The ends depend on the surrounding bytes.
  const inBase64 = [0, 1, 2].map((lead) =>
    Buffer.concat([Buffer.alloc(lead), bytes])
      .toString('base64')
      .slice(lead === 0 ? 0 : 4, -4),
  )
  const texts = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    ...inBase64,
    ...inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
  return [...new Set(texts.filter(({ length }) => length >= 10))].map((text) => Buffer.from(text))
}

/** Reads everything that a service has stored: files and database tables, by name. */
export const readStored = async (
  { folder, environment }: Place,
  ignoredFiles: readonly string[],
): Promise<[string, Buffer][]> => {
  const files = readdirSync(folder)
    .filter((name) => !ignoredFiles.includes(name))
    .map((name): [string, Buffer] => [name, readFileSync(join(folder, name))])
  const { DATABASE_URL: databaseUrl } = environment
  if (databaseUrl === undefined) return files
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    )
    for (const { name } of tables) {
      // Bytes as hex, which is one of the encodings.
      const { rows } = await client.query(`select * from "${name}"`)
      const text = JSON.stringify(rows, (_, value: unknown) =>
        typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
          ? Buffer.from(value as unknown as Uint8Array).toString('hex')
          : value,
      )
      files.push([`table ${name}`, Buffer.from(text)])
    }
  } finally {
    await client.end()
  }
  return files
}
