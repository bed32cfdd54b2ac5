import { targets } from './targets.ts'
import { reportUsage } from './reportUsage.ts'

// A process of its own for each target, so that one does not pay for what another left behind.

const [, , name = '', upstream = '', collector = ''] = process.argv
const open = targets[name]
if (open === undefined) throw new Error(`there is no target '${name}'`)
reportUsage(await open(upstream, collector))
