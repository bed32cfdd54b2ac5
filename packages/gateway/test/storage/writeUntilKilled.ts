import { openStorage } from '../../src/storage/openStorage.ts'
import { addUser } from './fill.ts'

// A process that writes as fast as it can and prints each completed write.
const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('usage: writeUntilKilled FILE')
const storage = await openStorage({ file })
for (;;) {
  const { id } = await addUser(storage)
  process.stdout.write(`${id}\n`)
}
