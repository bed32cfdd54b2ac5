import { targets } from './targets.ts'
import { reportUsage } from './reportUsage.ts'

// Each target runs in a separate process, so that none pays for the garbage of another.

const [, , name = '', upstream = '', collector = ''] = process.argv
const open = targets[name]
if (open === undefined) throw new Error(`there is no target '${name}'`)
reportUsage(await open(upstream, collector))
