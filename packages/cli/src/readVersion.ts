import { readFileSync } from 'node:fs'

/** Reads the version of this package. The built file is at the same depth as this one, so the path works for both. */
export const readVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version
