import { doors } from './doors.ts'
import { tellOfDoor } from './tellOfDoor.ts'

// A process of its own for each door, so that one does not pay for what another left behind.

const [, , name = '', upstream = ''] = process.argv
const open = doors[name]
if (open === undefined) throw new Error(`there is no door '${name}'`)
tellOfDoor(await open(upstream))
